// A TCP proxy in front of a server, per connection breakable: what a network can do to a client.

import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface TcpProxy {
  readonly connection: { readonly host: string; readonly port: number }
  /** Connections that stand now. */
  readonly open: number
  /** Accepted so far. */
  readonly accepted: number
  /** Bytes that clients have sent so far, swallowed ones included. */
  readonly received: number
  /** Replies take this much longer. */
  latency(ms: number): void
  /** At most so many bytes a second to each client; 0: as many as there are. */
  throttle(bytesPerSecond: number): void
  /**
   * Connections that stand now: whatever is sent either way vanishes, and nothing tells, also not
   * when the other end closes (half-open). New ones work.
   */
  severSilently(which?: (firstBytes: string) => boolean): void
  /** The same of those to come as well, as soon as they have sent what tells; `undefined`: no more. */
  cut(which: ((firstBytes: string) => boolean) | undefined): void
  /** What each connection that stands has sent first. */
  connections(): readonly string[]
  /** Where new connections lead; those that stand stay where they are. */
  retarget(to: { readonly host: string; readonly port: number }): void
  /** New connections are accepted, and nothing comes of them. */
  blackhole(on: boolean): void
  /** Nobody listens any more, and every connection that stands is reset. `false`: as before, on the same port. */
  refuse(on: boolean): Promise<void>
  /** Every connection that stands is reset. */
  reset(): void
  /** The next reply on each connection that stands ends in its middle, and so does the connection. */
  cutMidReply(): void
  close(): Promise<void>
}

interface Pair {
  readonly client: net.Socket
  readonly server: net.Socket | undefined
  /** Everything that the client has sent, up to a limit: which kind of connection it is. */
  sent: string
  severed: boolean
  halving: boolean
}

export async function startTcpProxy(first: { host: string; port: number }): Promise<TcpProxy> {
  let target: { readonly host: string; readonly port: number } = first
  let cutting: ((firstBytes: string) => boolean) | undefined
  const pairs = new Set<Pair>()
  let latencyMs = 0
  let bytesPerSecond = 0
  let swallowing = false
  let accepted = 0
  let received = 0

  const listener = net.createServer((client) => {
    accepted += 1
    const server = swallowing ? undefined : net.connect(target.port, target.host)
    const pair: Pair = { client, server, sent: '', severed: swallowing, halving: false }
    pairs.add(pair)
    client.setNoDelay(true)
    server?.setNoDelay(true)
    client.on('data', (bytes) => {
      received += bytes.length
      if (pair.sent.length < 4_000) pair.sent += bytes.toString('latin1')
      if (cutting?.(pair.sent)) pair.severed = true
      if (!pair.severed) server?.write(bytes)
    })
    let sending = Promise.resolve()
    let held = 0
    server?.on('data', (bytes) => {
      if (pair.halving) {
        client.end(bytes.subarray(0, Math.floor(bytes.length / 2)))
        server.destroy()
        return
      }
      // Never past what is held back still.
      if (latencyMs === 0 && bytesPerSecond === 0 && held === 0) {
        if (!pair.severed) client.write(bytes)
        return
      }
      const dueAt = performance.now() + latencyMs
      held += 1
      sending = sending.then(() => deliver(pair, bytes, dueAt)).finally(() => (held -= 1))
    })
    const end = () => {
      if (pair.severed && !client.destroyed) return
      pairs.delete(pair)
      client.destroy()
      server?.destroy()
    }
    for (const socket of [client, server]) {
      socket?.on('error', () => {})
      socket?.on('close', end)
    }
  })

  async function deliver(pair: Pair, bytes: Buffer, dueAt: number): Promise<void> {
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const rate = bytesPerSecond
    const step = rate === 0 ? bytes.length : Math.max(1, Math.floor(rate / 100))
    for (let from = 0; from < bytes.length; from += step) {
      if (pair.severed || pair.client.destroyed) return
      pair.client.write(bytes.subarray(from, from + step))
      if (rate !== 0) await sleep(10)
    }
  }

  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(at, '127.0.0.1', () => {
        listener.off('error', reject)
        resolve()
      })
    })
  const reset = () => {
    for (const pair of pairs) {
      pair.client.resetAndDestroy()
      pair.server?.destroy()
    }
    pairs.clear()
  }

  await listen(0)
  const { port } = listener.address() as net.AddressInfo
  return {
    connection: { host: '127.0.0.1', port },
    get open() {
      return pairs.size
    },
    get accepted() {
      return accepted
    },
    get received() {
      return received
    },
    latency: (ms) => void (latencyMs = ms),
    throttle: (rate) => void (bytesPerSecond = rate),
    severSilently(which = () => true) {
      for (const pair of pairs) if (which(pair.sent)) pair.severed = true
    },
    cut(which) {
      cutting = which
      for (const pair of pairs) if (which?.(pair.sent)) pair.severed = true
    },
    connections: () => [...pairs].map(({ sent }) => sent),
    retarget: (to) => void (target = to),
    blackhole: (on) => void (swallowing = on),
    async refuse(on) {
      if (!on) return listener.listening ? undefined : listen(port)
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
      reset()
      await closed
    },
    reset,
    cutMidReply() {
      for (const pair of pairs) pair.halving = true
    },
    close: () =>
      new Promise((resolve) => {
        for (const { client, server } of pairs) {
          client.destroy()
          server?.destroy()
        }
        if (!listener.listening) return resolve()
        listener.close(() => resolve())
      }),
  }
}
