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

// eslint-disable-next-line no-control-regex -- these are what is meant
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Names and keys come from users of the application: none of them may move the cursor. */
export function plain(text: string): string {
  return text.replace(controls, (char) => {
    const code = char.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`
  })
}
