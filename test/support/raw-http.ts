// HTTP as it is on the wire: a client that sends bytes as they are given, and reads answers strictly.

import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly reason: string
  readonly httpVersion: string
  /** Lines of the head, as they came. */
  readonly lines: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Whether the body ended as its head had promised. */
  readonly whole: boolean
  /** The value of each line of this field, by any case. */
  all(name: string): string[]
  /** The one line of this field. */
  one(name: string): string | undefined
}

export interface Connection {
  readonly socket: Socket
  send(bytes: string | Buffer): void
  /** The next answer, interim ones as well; rejects where the connection ends before its head. */
  answer(method?: string): Promise<RawAnswer>
  /** Resolves when the other side has ended or reset. */
  readonly ended: Promise<'end' | 'reset'>
  /** What came and was not read yet. */
  rest(): Buffer
}

export function connection(port: number): Connection {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let buffer: Buffer = Buffer.alloc(0)
  let over: 'end' | 'reset' | undefined
  let wake = (): void => {}
  const ended = new Promise<'end' | 'reset'>((resolve) => {
    const finish = (how: 'end' | 'reset'): void => {
      over ??= how
      resolve(over)
      wake()
    }
    socket.on('end', () => finish('end'))
    socket.on('error', () => finish('reset'))
    socket.on('close', () => finish('reset'))
  })
  socket.on('data', (data) => {
    buffer = Buffer.concat([buffer, data])
    wake()
  })
  const more = (): Promise<void> => new Promise((resolve) => (wake = resolve))
  const take = (bytes: number): Buffer => {
    const taken = buffer.subarray(0, bytes)
    buffer = buffer.subarray(bytes)
    return taken
  }
  const line = async (): Promise<string | undefined> => {
    for (;;) {
      const at = buffer.indexOf('\r\n')
      if (at >= 0) return take(at + 2).toString('latin1', 0, at)
      if (over !== undefined) return undefined
      await more()
    }
  }
  const exactly = async (bytes: number): Promise<Buffer> => {
    while (buffer.length < bytes && over === undefined) await more()
    return take(bytes)
  }
  const chunks = async (): Promise<{ body: Buffer; whole: boolean }> => {
    const parts: Buffer[] = []
    const broken = () => ({ body: Buffer.concat(parts), whole: false })
    for (;;) {
      const size = await line()
      if (size === undefined) return broken()
      const bytes = Number.parseInt(size, 16)
      const part = await exactly(bytes)
      parts.push(part)
      if (part.length < bytes || (await line()) === undefined) return broken()
      if (bytes === 0) return { body: Buffer.concat(parts), whole: true }
    }
  }
  const answer = async (method = 'GET'): Promise<RawAnswer> => {
    const [, httpVersion = '', code = '', reason = ''] =
      /^HTTP\/(\d\.\d) (\d{3}) ?(.*)$/.exec((await line()) ?? '') ?? []
    if (code === '') throw new Error(`the connection has ended without an answer (${over})`)
    const lines: [string, string][] = []
    for (let text = await line(); text !== ''; text = await line()) {
      if (text === undefined) throw new Error('the connection has ended in a head')
      const colon = text.indexOf(':')
      lines.push([text.slice(0, colon), text.slice(colon + 1).trim()])
    }
    const all = (name: string): string[] =>
      lines.filter(([one]) => one.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
    const status = Number(code)
    const head = { status, reason, httpVersion, lines, all, one: (name: string) => all(name)[0] }
    const hasNone = method === 'HEAD' || status < 200 || status === 204 || status === 304
    if (hasNone) return { ...head, body: Buffer.alloc(0), whole: true }
    if (all('transfer-encoding').length > 0) return { ...head, ...(await chunks()) }
    const length = all('content-length')[0]
    if (length !== undefined) {
      const body = await exactly(Number(length))
      return { ...head, body, whole: body.length === Number(length) }
    }
    return { ...head, body: await exactly(Infinity), whole: (await ended) === 'end' }
  }
  return { socket, send: (bytes) => socket.write(bytes), answer, ended, rest: () => buffer }
}

/** One request on a connection of its own. */
export async function ask(port: number, request: string, method = 'GET'): Promise<RawAnswer> {
  const to = connection(port)
  to.send(request)
  try {
    return await to.answer(method)
  } finally {
    to.socket.destroy()
  }
}

/** `GET /path` with these further lines. */
export function get(path: string, ...lines: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: site.test', ...lines, '', ''].join('\r\n')
}
