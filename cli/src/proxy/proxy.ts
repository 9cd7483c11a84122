/**
 * One process of the proxy: requests go through intake and cache to the origin. It stops in an order:
 * health says so, no connection is taken any more, what runs may end within its grace, the rest is
 * broken off, and the cache is closed last.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { prometheusMetrics } from 'breakwater/prometheus'
import { openAccessLog } from './access-log.ts'
import { sendHealth, type Health } from './admin-server.ts'
import { cachedBy } from './cached.ts'
import { countersOf, type Counters } from './counters.ts'
import { openOrigin } from './forward.ts'
import { takeIn, type IntakeRules } from './intake.ts'
import { listen } from './listen.ts'
import { openCache, type OpenCache } from './open-cache.ts'
import { takeAsPlain } from './plain-request.ts'
import { reply } from './reply.ts'
import { limitsOf } from './server-limits.ts'
import type { ProxySettings } from './settings.ts'
import { answerOn, isTunnelled, openTunnels } from './tunnel.ts'
import { watch } from './watch.ts'

export interface Proxy {
  readonly port: number
  readonly counters: Counters
  health(): Health
  stop(): Promise<void>
}

export async function startProxy(
  settings: ProxySettings,
  say: (text: string) => void,
): Promise<Proxy> {
  const opened = await openCache(settings, say)
  try {
    return await serve(settings, opened, say)
  } catch (error) {
    await opened.close(0)
    throw error
  }
}

async function serve(
  settings: ProxySettings,
  { cache, close }: OpenCache,
  say: (text: string) => void,
): Promise<Proxy> {
  const via = nameIn(settings)
  const counters = countersOf()
  const exported = prometheusMetrics({ cache, registry: counters.registry })
  const origin = openOrigin(settings, via, counters)
  const tunnels = openTunnels(settings, via, counters)
  const log = settings.accessLog === undefined ? undefined : openAccessLog(settings.accessLog, say)
  const cached = cachedBy({ cache, settings, via, forward: origin.forward })
  const { trusted, hosts, maxBodyBytes } = settings
  const rules: IntakeRules = { via, trusted, keepsHost: hosts.length > 0, maxBodyBytes }
  const running = new Set<ServerResponse>()
  let isStopping = false
  const health = (): Health => ({ status: isStopping ? 'stopping' : 'ok', cache: cache.health() })

  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    watch(req, res, { running, counters, log })
    if (isStopping) res.shouldKeepAlive = false
    if (settings.healthPath !== undefined && req.url === settings.healthPath) {
      return sendHealth(res, health())
    }
    const own = takeIn(req, rules)
    if (own !== undefined) return reply(res, own)
    // The cache asks for a whole answer where a client wants its head.
    const isHead = req.method === 'HEAD'
    cached(req, res, () => origin.forward({ req, res, isHead }))
  }

  const server = createServer(limitsOf(settings), answer)
  server.timeout =
    Math.max(settings.idleTimeoutMs, settings.origin.timeoutMs + settings.origin.connectTimeoutMs) +
    1_000
  // Who expects `100 Continue` gets it when the body is wanted.
  server.on('checkContinue', answer)
  server.on('connect', (req: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {})
    reply(answerOn(req, socket), { status: 405, text: 'This is no proxy to other hosts.' })
  })
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {})
    if (!isTunnelled(req)) return takeAsPlain(server, req, { socket, head })
    const own = takeIn(req, rules)
    if (own !== undefined) return reply(answerOn(req, socket), own)
    tunnels.open(req, socket, head)
  })
  await listen(server, settings)
  const stop = async (): Promise<void> => {
    isStopping = true
    const late = setTimeout(() => {
      server.closeAllConnections()
      tunnels.close()
    }, settings.graceMs)
    await drained(server, running)
    clearTimeout(late)
    tunnels.close()
    await origin.close()
    exported.stop()
    await close(Math.max(1_000, settings.graceMs))
    await log?.close()
  }
  return { port: (server.address() as AddressInfo).port, counters, health, stop }
}

/** The same for all processes of one proxy, and another one for the proxy behind it. */
function nameIn({ namespace, origin }: ProxySettings): string {
  const hash = createHash('sha256').update(`${namespace}\0${origin.url.origin}`).digest('hex')
  return `breakwater-${hash.slice(0, 8)}`
}

async function drained(server: Server, running: Set<ServerResponse>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const res of running) {
    if (!res.headersSent) res.shouldKeepAlive = false
    // Its head has promised to keep the connection.
    res.once('close', () => setImmediate(() => server.closeIdleConnections()))
  }
  await closed
}
