// One request over a socket, written and read by hand, so that nothing between hides what was sent.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'

export interface Raw {
  readonly status: number
  readonly statusText: string
  /** In order, as they came. */
  readonly lines: readonly (readonly [string, string])[]
  readonly body: Buffer
  /** The body ended as its head said it would. */
  readonly isWhole: boolean
  field(name: string): string | undefined
}

export interface RawOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly host?: string
  readonly body?: string
  /** Leaves after so many bytes of the answer. */
  readonly leaveAfter?: number
  /** Leaves when it has read this. */
  readonly leaveWhen?: string
}

/** Resolves when the server has closed, or the visitor has left. */
export function ask(port: number, path: string, options: RawOptions = {}): Promise<Raw> {
  const { method = 'GET', headers = {}, host = 'shop.test', body = '' } = options
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close']
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`)
  if (body !== '') head.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return exchange(port, `${head.join('\r\n')}\r\n\r\n${body}`, method, options)
}

export function exchange(
  port: number,
  bytes: string,
  method = 'GET',
  { leaveAfter = Infinity, leaveWhen }: RawOptions = {},
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    let length = 0
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      length += chunk.length
      const isRead = leaveWhen !== undefined && Buffer.concat(chunks).includes(leaveWhen)
      if (length >= leaveAfter || isRead) socket.destroy()
    })
    socket.on('close', () => resolve(parsed(Buffer.concat(chunks), method)))
    socket.write(bytes)
  })
}

export function parsed(all: Buffer, method: string): Raw {
  const end = all.indexOf('\r\n\r\n')
  const [first = '', ...rest] = all.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')
  const [, status = '0', statusText = ''] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(first) ?? []
  const lines = rest.map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at), line.slice(at + 1).trim()] as const
  })
  const field = (name: string): string | undefined => {
    const found = lines.filter(([one]) => one.toLowerCase() === name.toLowerCase())
    return found.length === 0 ? undefined : found.map(([, value]) => value).join(', ')
  }
  const payload = end < 0 ? Buffer.alloc(0) : all.subarray(end + 4)
  const isBodiless = method === 'HEAD' || status === '304' || status === '204'
  const { body, isWhole } = isBodiless
    ? { body: payload, isWhole: payload.length === 0 }
    : field('transfer-encoding') === 'chunked'
      ? dechunked(payload)
      : {
          body: payload,
          isWhole: payload.length === Number(field('content-length') ?? payload.length),
        }
  return { status: Number(status), statusText, lines, body, isWhole: isWhole && end >= 0, field }
}

function dechunked(payload: Buffer): { body: Buffer; isWhole: boolean } {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const line = payload.indexOf('\r\n', at)
    if (line < 0) return { body: Buffer.concat(chunks), isWhole: false }
    const size = Number.parseInt(payload.subarray(at, line).toString(), 16)
    if (size === 0) return { body: Buffer.concat(chunks), isWhole: true }
    chunks.push(payload.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
    if (at > payload.length) return { body: Buffer.concat(chunks), isWhole: false }
  }
}

export function hash(body: Uint8Array | string): string {
  return createHash('sha256').update(body).digest('hex')
}
