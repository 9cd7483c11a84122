/**
 * Beats: what a session sends to its own ears every 2 s, and what it learns with it. In a cluster
 * each master is sent its own, in one write with what else it is asked, and the beat is as good as
 * the first answer: a master that is gone must not make the others look so. With one server it is
 * one round trip, which fails if any part of it does.
 */
import type { Beat, EpochNews, SentBeat } from '../ports.ts'
import type { RedisCommands, RedisServer } from './commands.ts'
import { encodeMessage } from './message.ts'
import { refusalOf } from './refusal.ts'
import type { ServerIdentity } from './server-identity.ts'

/** A master that owes an answer for so long gets a new connection, as a store as a whole does. */
const reconnectAfterMs = 5_000

export interface HeartbeatOptions {
  readonly commands: RedisCommands
  readonly identity: ServerIdentity
  /** Where beats are published; `undefined`: nowhere, there is no bus. */
  readonly channel: string | undefined
  now(): number
  onFault(error: unknown): void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  /** Since when a master owes an answer. */
  readonly #owing = new Map<string, number>()

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  /** `ask`: for news of tags. */
  async beat(n: number, ask: () => Promise<EpochNews | undefined>): Promise<Beat> {
    const { commands, identity } = this.#options
    const servers = commands.servers()
    const [one, another] = servers
    if (one === undefined) throw new Error('the cluster has no master that is known')
    const news = unlessRefused(ask())
    const sent = this.#send(n, servers)
    const known = another === undefined ? this.#ofOne(one, news) : this.#ofAny(n, servers, news)
    const time = await known
    return { time, server: identity.of(servers), sent, news: news.catch(() => undefined) }
  }

  /** What it asks about tags tells the time as well. */
  async #ofOne(server: RedisServer, asked: Promise<EpochNews | undefined>): Promise<number> {
    const { identity } = this.#options
    const [news] = await Promise.all([
      asked,
      identity.isKnown(server) ? undefined : identity.learn(server),
    ])
    return news?.time ?? timeOf(server)
  }

  async #ofAny(
    n: number,
    servers: readonly RedisServer[],
    asked: Promise<EpochNews | undefined>,
  ): Promise<number> {
    // Each in turn, and not waited for.
    this.#options.identity.learn(servers[n % servers.length]!).catch(() => {})
    asked.catch(() => {})
    const times = servers.map((server) => this.#owes(server, timeOf(server)))
    try {
      return await Promise.any(times)
    } catch (error) {
      throw (error as AggregateError).errors[0]
    }
  }

  #send(n: number, servers: readonly RedisServer[]): readonly SentBeat[] {
    const { channel } = this.#options
    if (channel === undefined) return []
    return servers.map((server) => ({
      through: server.name,
      taken: this.#publish(n, server, channel),
    }))
  }

  /** Without the right to publish this process is deaf, and no more than that. */
  async #publish(n: number, server: RedisServer, channel: string): Promise<boolean> {
    const message = encodeMessage({ type: 'beat', n, through: server.name })
    try {
      await server.publish(channel, message)
      return true
    } catch (error) {
      if (refusalOf(error) !== undefined) this.#options.onFault(error)
      return false
    }
  }

  /** Finds the connections to single masters that are dead without knowing it. */
  async #owes<T>(server: RedisServer, answer: Promise<T>): Promise<T> {
    const { name } = server
    const now = this.#options.now()
    const since = this.#owing.get(name) ?? now
    this.#owing.set(name, since)
    if (now - since >= reconnectAfterMs) {
      this.#owing.delete(name)
      server.reconnect()
    }
    try {
      return await answer
    } finally {
      this.#owing.delete(name)
    }
  }
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
    return undefined
  }
}

async function timeOf(server: RedisServer): Promise<number> {
  const [seconds, microseconds] = await server.time()
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000
}
