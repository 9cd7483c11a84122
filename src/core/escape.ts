/**
 * Key text to what may be written into a storage key, and back. Braces would be read as a hash tag
 * by a cluster; a lone surrogate would become U+FFFD in UTF-8, and two keys would be one. `%` is
 * escaped because it is the mark. Everything else is left readable, and most keys are untouched.
 */

const suspicious = /[%{}\ud800-\udfff]/
/** With the `u` flag a surrogate range matches lone surrogates only. */
const unsafe = /[%{}\ud800-\udfff]/gu
const escaped = /%(?:25|7B|7D|u(D[89A-F][0-9A-F]{2}))/g

export function escapeKey(text: string): string {
  return suspicious.test(text) ? text.replace(unsafe, escapeOne) : text
}

/** The inverse of `escapeKey`. What it did not make is left as it stands. */
export function unescapeKey(text: string): string {
  return text.includes('%') ? text.replace(escaped, unescapeOne) : text
}

function escapeOne(char: string): string {
  const code = char.charCodeAt(0).toString(16).toUpperCase()
  return code.length === 4 ? `%u${code}` : `%${code}`
}

function unescapeOne(mark: string, surrogate: string | undefined): string {
  return String.fromCharCode(parseInt(surrogate ?? mark.slice(1), 16))
}
