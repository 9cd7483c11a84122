/**
 * WebSockets: the connection itself is passed through once the origin has agreed, and its refusal like
 * any answer. No other protocol is let through: behind `Upgrade: h2c` there would be requests that
 * nobody looks at.
 */
import http, { ServerResponse, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import { answerTo, NoConnection, reasonOf } from './failure.ts'
import { isOfConnection, passedOn } from './fields.ts'
import { hostFor, hostnameOf, tlsOf, type Told } from './forward.ts'
import { viaOf } from './intake.ts'
import { breakOff, reply } from './reply.ts'
import type { ProxySettings } from './settings.ts'

export interface Tunnels {
  open(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Breaks off those that are open. */
  close(): void
}

export function isTunnelled({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '')
}

/** An answer on a connection whose parser has gone: the last one. */
export function answerOn(req: IncomingMessage, socket: Duplex): ServerResponse {
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(socket as never)
  res.once('finish', () => {
    socket.end()
    // Nobody reads it any more, and no limit of the server is for it.
    const late = setTimeout(() => socket.destroy(), hangUpMs)
    socket.once('close', () => clearTimeout(late)).resume()
  })
  return res
}

/** For the client to end his side, once he has been answered. */
const hangUpMs = 1_000

export function openTunnels(settings: ProxySettings, via: string, told: Told): Tunnels {
  const sockets = new Set<Duplex>()
  const { origin, maxHeaderBytes } = settings

  const open = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    told.asked()
    keep(sockets, socket)
    const asked = (origin.url.protocol === 'https:' ? https : http).request({
      host: hostnameOf(origin.url),
      port: origin.url.port,
      path: req.url,
      headers: headersOf(req, settings),
      maxHeaderSize: maxHeaderBytes,
      agent: false,
      ...tlsOf(settings),
    })
    const connecting = setTimeout(() => asked.destroy(new NoConnection()), origin.connectTimeoutMs)
    const answering = setTimeout(() => asked.destroy(late()), origin.timeoutMs)
    const left = (): void => void asked.destroy()
    const settled = (): void => {
      clearTimeout(connecting)
      clearTimeout(answering)
      socket.off('close', left)
    }
    socket.once('close', left).on('error', left)
    asked.once('socket', (one) => one.once('connect', () => clearTimeout(connecting)))
    asked.once('upgrade', (answer, other, first) => {
      settled()
      socket.write(headOf(answer, via), 'latin1')
      join(socket, other, sockets)
      if (first.length > 0) socket.write(first)
      if (head.length > 0) other.write(head)
    })
    asked.once('response', (answer) => {
      settled()
      pass(answer, answerOn(req, socket), via)
    })
    asked.once('error', (error) => {
      settled()
      told.failed(reasonOf(error))
      if (!socket.destroyed) reply(answerOn(req, socket), answerTo(error))
    })
    asked.end()
  }
  return {
    open,
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function headersOf(req: IncomingMessage, settings: ProxySettings): http.OutgoingHttpHeaders {
  const passed = Object.entries(req.headers).filter(([name]) => !isOfConnection(name))
  return {
    ...Object.fromEntries(passed),
    host: hostFor(req, settings),
    connection: 'Upgrade',
    upgrade: 'websocket',
  }
}

function headOf(answer: IncomingMessage, via: string): string {
  const lines = [`HTTP/1.1 101 ${answer.statusMessage ?? ''}`]
  for (const [name, value] of passedOn(answer.rawHeaders)) {
    for (const line of Array.isArray(value) ? value : [value]) lines.push(`${name}: ${line}`)
  }
  lines.push('Connection: Upgrade', 'Upgrade: websocket', `Via: ${viaOf(undefined, '1.1', via)}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function join(one: Duplex, other: Duplex, sockets: Set<Duplex>): void {
  keep(sockets, other)
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    // A peer that has vanished without a word is found out.
    ;(from as { setKeepAlive?: (on: boolean, ms: number) => void }).setKeepAlive?.(true, 30_000)
    from.on('error', () => to.destroy())
    from.once('close', () => to.destroy())
    from.pipe(to)
  }
}

function keep(sockets: Set<Duplex>, one: Duplex): void {
  sockets.add(one)
  one.once('close', () => sockets.delete(one))
}

function pass(answer: IncomingMessage, res: ServerResponse, via: string): void {
  try {
    for (const [name, value] of passedOn(answer.rawHeaders)) res.setHeader(name, value)
    res.setHeader('Via', viaOf(answer.headers.via, '1.1', via))
    res.writeHead(answer.statusCode ?? 502)
  } catch (error) {
    answer.destroy()
    return reply(res, answerTo(error))
  }
  answer.on('error', () => breakOff(res))
  res.once('close', () => answer.destroy())
  answer.pipe(res)
}

function late(): Error {
  return Object.assign(new Error('no answer'), { code: 'UND_ERR_HEADERS_TIMEOUT' })
}
