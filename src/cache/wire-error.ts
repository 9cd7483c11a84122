/**
 * A loader's error on its way to those who waited in other processes. Without a word from the
 * definition only its name and code travel: a message may hold what is not for everyone.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { EntryRules } from './options.ts'

interface Wire {
  readonly name: string
  readonly code?: string
  readonly wire?: unknown
}

const mostCharacters = 8_192

/** `onFault` hears of a `toWire` that threw or gave what JSON cannot hold; name and code travel then. */
export function toWire(
  error: unknown,
  rules: EntryRules,
  onFault: (fault: unknown) => void,
): string {
  const plain: Wire = { name: nameOf(error), ...codeOf(error) }
  if (rules.errors === undefined) return JSON.stringify(plain)
  try {
    const text = JSON.stringify({ ...plain, wire: rules.errors.toWire(error) })
    if (text.length <= mostCharacters) return text
    onFault(
      new RangeError(`errors.toWire: ${text.length} characters, at most ${mostCharacters} travel`),
    )
  } catch (fault) {
    onFault(fault)
  }
  return JSON.stringify(plain)
}

export function fromWire(
  text: string,
  rules: EntryRules,
  key: string,
  onFault: (fault: unknown) => void,
): unknown {
  let wire: Partial<Wire> = {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) wire = parsed
    if (rules.errors !== undefined && 'wire' in wire) return rules.errors.fromWire(wire.wire)
  } catch (fault) {
    onFault(fault)
  }
  const name = typeof wire.name === 'string' ? wire.name : 'Error'
  const code = typeof wire.code === 'string' ? { code: wire.code } : {}
  return new BreakwaterError(
    'LOAD_FAILED_ELSEWHERE',
    `${key}: the load that this call waited for failed in another process (${name}${code.code === undefined ? '' : `, ${code.code}`})`,
    { key, remote: { name, ...code } },
  )
}

/** With the epoch as of which the load had begun: a change by tag since then makes it one of before. */
export function withAsOf(text: string, asOf: number): string {
  return `${asOf} ${text}`
}

export function readAsOf(wire: string): { readonly asOf: number; readonly text: string } {
  const [, asOf, text] = /^(\d+) (.*)$/s.exec(wire) ?? []
  return asOf === undefined ? { asOf: Infinity, text: wire } : { asOf: Number(asOf), text: text! }
}

/** An error's own getters may throw as well. */
function nameOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name).slice(0, 100) : typeof error
  } catch {
    return 'Error'
  }
}

function codeOf(error: unknown): { code?: string } {
  try {
    const { code } = error as { code?: unknown }
    const plain = typeof code === 'string' || typeof code === 'number'
    return plain ? { code: String(code).slice(0, 100) } : {}
  } catch {
    return {}
  }
}
