/** Colours, where they are wanted; and text from elsewhere, made safe for a terminal. */

type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim'

export type Paint = ((style: Style, text: string) => string) & { readonly isOn: boolean }

export function paint(isOn: boolean): Paint {
  const codes: Record<Style, readonly [number, number]> = {
    red: [31, 39],
    green: [32, 39],
    yellow: [33, 39],
    cyan: [36, 39],
    bold: [1, 22],
    dim: [2, 22],
  }
  const apply = (style: Style, text: string): string =>
    isOn ? `\u001b[${codes[style][0]}m${text}\u001b[${codes[style][1]}m` : text
  return Object.assign(apply, { isOn })
}

const unseen = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'
const controls = new RegExp(`[\\u0000-\\u001f${unseen}]`, 'g')
const controlsOfLines = new RegExp(`[\\u0000-\\u0009\\u000b-\\u001f${unseen}]`, 'g')
const coloursAndControls = new RegExp(`(\\u001b\\[\\d+m)|${controlsOfLines.source}`, 'g')
const unseenByJson = new RegExp(`[${unseen}]`, 'g')

/** Names and keys come from users of the application: none of them may move the cursor. */
export function plain(text: string): string {
  return text.replace(controls, escape)
}

/** Of several lines, which stay lines; and coloured, where it was we who coloured them. */
export function plainLines(text: string, { coloured }: { coloured: boolean }): string {
  if (!coloured) return text.replace(controlsOfLines, escape)
  return text.replace(coloursAndControls, (char, colour?: string) => colour ?? escape(char))
}

/** The same document: JSON itself lets those pass that some terminals obey. */
export function plainJson(json: string): string {
  return json.replace(unseenByJson, (char) => `\\u${codeOf(char).padStart(4, '0')}`)
}

function escape(char: string): string {
  const code = codeOf(char)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}

function codeOf(char: string): string {
  return char.charCodeAt(0).toString(16)
}
