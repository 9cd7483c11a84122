/** The head of a `ServerResponse`, as it is about to be written. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Fields, Head } from '../http/message.ts'

/** As `writeHead(status[, text][, fields])` says it, over what was set before. */
export function headOf(res: ServerResponse, args: unknown[]): Head {
  const [status, second, third] = args
  const text = typeof second === 'string' ? second : undefined
  const given = (text === undefined ? (third ?? second) : third) as
    OutgoingHttpHeaders | unknown[] | undefined
  const fields: Record<string, string | readonly string[]> = {}
  const put = (name: string, value: unknown): void => {
    if (value === undefined) return
    fields[name.toLowerCase()] = Array.isArray(value)
      ? value.map(String)
      : String(value as string | number)
  }
  for (const name of res.getHeaderNames()) put(name, res.getHeader(name))
  if (Array.isArray(given)) putList(given, fields, put)
  else if (given !== undefined && given !== null) {
    for (const [name, value] of Object.entries(given)) put(name, value)
  }
  // HTTP/2 has none, and warns of whoever looks.
  const has = text === undefined && res.req.httpVersionMajor < 2 && res.statusMessage !== ''
  const own = has ? res.statusMessage : text
  return { status: Number(status), statusText: own, fields }
}

/** Flat (`[name, value, …]`) or in pairs; a name that comes again is another line of its field. */
function putList(
  given: unknown[],
  fields: Record<string, string | readonly string[]>,
  put: (name: string, value: unknown) => void,
): void {
  const pairs = Array.isArray(given[0])
    ? (given as [string, unknown][])
    : Array.from(
        { length: given.length / 2 },
        (_, n) => [String(given[2 * n]), given[2 * n + 1]] as const,
      )
  const seen = new Set<string>()
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase()
    const before = fields[lower]
    put(name, seen.has(lower) && before !== undefined ? [before, value].flat() : value)
    seen.add(lower)
  }
}

export function setFields(res: ServerResponse, fields: Fields): void {
  for (const name in fields) {
    const value = fields[name]
    if (value !== undefined) res.setHeader(name, value as string | string[])
  }
}

/** A body that is written at once has a length, unless its head says otherwise. */
export function mayHaveLength(res: ServerResponse): boolean {
  const { statusCode } = res
  if (statusCode < 200 || statusCode === 204 || statusCode === 304) return false
  return (
    !res.hasHeader('content-length') &&
    !res.hasHeader('transfer-encoding') &&
    !res.hasHeader('trailer')
  )
}
