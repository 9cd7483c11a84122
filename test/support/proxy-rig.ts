// A proxy in this process, before an origin of node:http or one that sends bytes as they are given.
// All ends with `end`.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { startProxy, type Proxy } from '../../cli/src/proxy/proxy.ts'
import { proxySettings } from '../../cli/src/proxy/settings.ts'
import { fromCommandLine } from '../../cli/src/proxy/sources.ts'

export interface Origin {
  readonly url: string
  readonly port: number
  /** Each request that came. */
  readonly seen: IncomingMessage[]
  readonly server: Server
}

export interface RawOrigin {
  readonly url: string
  /** Each connection, and what has come on it. */
  readonly sockets: Socket[]
  readonly came: string[]
}

export type Options = Readonly<Record<string, string | boolean>>

export function proxyRig() {
  const ends: (() => unknown)[] = []

  async function origin(handle: RequestListener): Promise<Origin> {
    const seen: IncomingMessage[] = []
    const server = createServer((req, res) => {
      seen.push(req)
      handle(req, res)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ends.push(() => {
      server.closeAllConnections()
      return server.close()
    })
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, port, seen, server }
  }

  /** `answer` is called at the end of each head that comes. */
  async function rawOrigin(answer: (socket: Socket, head: string) => void): Promise<RawOrigin> {
    const sockets: Socket[] = []
    const came: string[] = []
    const server = createTcpServer((socket) => {
      const at = came.push('') - 1
      let begun = 0
      sockets.push(socket)
      socket.on('error', () => {})
      socket.on('data', (data) => {
        came[at] += data.toString('latin1')
        const end = came[at]!.indexOf('\r\n\r\n', begun)
        if (end < 0) return
        const head = came[at]!.slice(begun, end + 4)
        begun = end + 4
        answer(socket, head)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ends.push(() => {
      for (const socket of sockets) socket.destroy()
      return server.close()
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, came }
  }

  async function proxy(to: string, options: Options = {}): Promise<Proxy> {
    const given = { port: '0', host: '127.0.0.1', adminPort: 'off', grace: '0', origin: to }
    const settings = proxySettings([fromCommandLine({ ...given, ...options })])
    const started = await startProxy(settings, () => {})
    ends.push(() => started.stop())
    return started
  }

  return {
    origin,
    rawOrigin,
    proxy,
    also: (end: () => unknown) => void ends.push(end),
    end: async () => {
      for (const end of ends.splice(0).toReversed()) await end()
    },
  }
}

export function hashOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** No text in any encoding, and different at every place. */
export function binary(bytes: number): Buffer {
  const made = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at++) made[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 0xff
  return made
}

export async function bodyOf(req: AsyncIterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
