/** Fetch's requests and responses as the engine's records, and back. `Headers` are walked once each: they are slow. */
import type { Answer } from '../http/answer.ts'
import type { Fields, Head, HttpRequest } from '../http/message.ts'

export function requestOf(request: Request): HttpRequest {
  const { url } = request
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const hash = url.indexOf('#', start)
  const fields: Record<string, string> = {}
  request.headers.forEach((value, name) => {
    fields[name] = value
  })
  const authority = url.slice(url.indexOf('://') + 3, start)
  // Where the server leaves it out, the URL has it.
  fields['host'] ??= authority
  // The application may look at either: where a client has named two, its answer is for neither.
  const isOneHost = fields['host'] === authority || isSameHost(url, fields['host'])
  return {
    method: request.method,
    url: url.slice(isOneHost ? start : 0, hash < 0 ? undefined : hash),
    fields,
    isSecure: url.startsWith('https:'),
    isIdentified: false,
  }
}

function isSameHost(url: string, host: string): boolean {
  const { protocol, host: own } = new URL(url)
  try {
    return new URL(`${protocol}//${host}`).host === own
  } catch {
    return false
  }
}

export function headOf(response: Response): Head {
  const { status, statusText } = response
  return {
    status,
    statusText: statusText === '' ? undefined : statusText,
    fields: fieldsOf(response.headers),
  }
}

export function fieldsOf(headers: Headers): Fields {
  const fields: Record<string, string | readonly string[]> = {}
  headers.forEach((value, name) => {
    fields[name] = name === 'set-cookie' ? headers.getSetCookie() : value
  })
  return fields
}

export function responseFrom({ status, statusText, fields, body }: Answer): Response {
  return made(body ?? null, { status, statusText, fields })
}

export function made(
  body: Uint8Array | ReadableStream<Uint8Array> | null,
  { status, statusText, fields }: Head,
): Response {
  return new Response(
    isBodiless(status) ? null : (body as ConstructorParameters<typeof Response>[0]),
    {
      status,
      ...(statusText !== undefined && { statusText }),
      headers: headersFrom(fields),
    },
  )
}

/** With these fields besides its own. */
export function withFields(response: Response, more: Fields): Response {
  // Such a one cannot be made, only handed on.
  if (response.status < 200 || Object.keys(more).length === 0) return response
  if (response.body !== null && isWritable(response.headers, more)) return response
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  isWritable(headers, more)
  return new Response(response.body, { status, statusText, headers })
}

/** What `fetch` gave is for reading alone. One without a body may be given again: it stays as it is. */
function isWritable(headers: Headers, more: Fields): boolean {
  try {
    for (const name in more) {
      const value = more[name]
      if (value !== undefined) headers.set(name, String(value))
    }
    return true
  } catch {
    return false
  }
}

/** A plain record where that says all: servers write it faster. */
function headersFrom(fields: Fields): Record<string, string> | [string, string][] {
  const plain: Record<string, string> = {}
  const lines: [string, string][] = []
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined) continue
    if (typeof value === 'string') plain[name] = value
    else for (const line of value) lines.push([name, line])
  }
  return lines.length === 0 ? plain : [...Object.entries(plain), ...lines]
}

export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
