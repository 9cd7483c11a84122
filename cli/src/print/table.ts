/** Columns as wide as their widest cell: the first to the left, the others to the right. */

export function table(rows: readonly (readonly string[])[], gap = '  '): string[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, n) => (widths[n] = Math.max(widths[n] ?? 0, widthOf(cell))))
  }
  return rows.map((row) =>
    row
      .map((cell, n) => {
        const space = ' '.repeat(widths[n]! - widthOf(cell))
        return n === 0 ? cell + space : space + cell
      })
      .join(gap)
      .trimEnd(),
  )
}

/** The last cell of a row takes the rest of the line; the ones before it are aligned to the left. */
export function list(rows: readonly (readonly [string, string])[], indent = '  '): string[] {
  const width = Math.max(...rows.map(([name]) => widthOf(name)))
  return rows.map(([name, text]) => {
    const lines = text.split('\n')
    const blank = `\n${indent}${' '.repeat(width + 2)}`
    return `${indent}${name}${' '.repeat(width - widthOf(name))}  ${lines.join(blank)}`
  })
}

// eslint-disable-next-line no-control-regex -- colours take no room
const colour = /\u001b\[\d+m/g

function widthOf(cell: string): number {
  return Array.from(cell.replace(colour, '')).length
}

export function cut(text: string, width: number): string {
  const chars = Array.from(text)
  return chars.length <= width ? text : `${chars.slice(0, width - 1).join('')}…`
}
