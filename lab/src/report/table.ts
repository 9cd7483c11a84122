// Aligned columns for a terminal of 80 columns: the first to the left, figures to the right. Long
// text is wrapped under its own column.

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(head), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n')
}

/** `label: text`, the text folded at `width` and indented under itself. */
export function paragraph(label: string, text: string, width = 80): string {
  const lines: string[] = []
  let line = label
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > width && line.trim() !== '') {
      lines.push(line)
      line = ' '.repeat(label.length)
    }
    line += line.length === 0 ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}
