/**
 * Fields that are of one connection and not of the message (RFC 9110, 7.6.1): they are never passed on,
 * and neither are those that `Connection` names, save what frames and addresses the message.
 */

const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** To name them would take a message apart, or what keeps an answer from others: `Connection: Cache-Control`. */
const never = new Set([
  'host',
  'content-length',
  'via',
  'cache-control',
  'cdn-cache-control',
  'breakwater-cache-control',
  'expires',
  'set-cookie',
  'vary',
])

export function isOfConnection(name: string): boolean {
  return ofConnection.has(name)
}

/** The names in `Connection`, lower-case. */
export function namedBy(connection: string | readonly string[] | undefined): Set<string> {
  const text = connection === undefined ? '' : String(connection)
  const names = text.split(',').map((name) => name.trim().toLowerCase())
  return new Set(names.filter((name) => name !== '' && !never.has(name)))
}

/** Of an answer as undici tells it, [name, value, …]: by the name as it came, several lines as a list. */
export function passedOn(raw: readonly (Buffer | string)[]): Map<string, string | string[]> {
  const fields = new Map<string, { readonly name: string; readonly lines: string[] }>()
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [textOf(raw[at]!), textOf(raw[at + 1]!)]
    const known = fields.get(name.toLowerCase())
    if (known === undefined) fields.set(name.toLowerCase(), { name, lines: [value] })
    else known.lines.push(value)
  }
  const named = namedBy(fields.get('connection')?.lines)
  const kept = new Map<string, string | string[]>()
  for (const [key, { name, lines }] of fields) {
    if (ofConnection.has(key) || named.has(key)) continue
    kept.set(name, lines.length === 1 ? lines[0]! : lines)
  }
  return kept
}

/** Byte by byte, so that what is no ASCII goes out as it came in. */
function textOf(part: Buffer | string): string {
  return typeof part === 'string' ? part : part.toString('latin1')
}
