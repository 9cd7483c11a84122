/**
 * Processes of one cache behind one proxy, the Redis behind it, another to fail over to, and the
 * source. What a process was told when it was killed is lost with it; one with the same place and
 * the same load takes over.
 */
import { startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from '@breakwater/rig'
import { setTimeout as sleep } from 'node:timers/promises'
import { Member } from './member.ts'
import { namespace, type Client, type Figures, type Resources } from './messages.ts'
import { openSource, type Source } from './source.ts'

export interface FleetOptions {
  /** One process for each. */
  readonly clients: readonly Client[]
  readonly seed: number
}

export class Fleet {
  readonly proxy: TcpProxy
  readonly source: Source
  readonly members: Member[]
  /** Where the proxy leads. */
  master: RedisServer
  other: RedisServer
  readonly #sourceServer: RedisServer
  #perSecond = 0

  private constructor(
    parts: Pick<Fleet, 'proxy' | 'source' | 'members' | 'master' | 'other'>,
    sourceServer: RedisServer,
  ) {
    this.proxy = parts.proxy
    this.source = parts.source
    this.members = parts.members
    this.master = parts.master
    this.other = parts.other
    this.#sourceServer = sourceServer
  }

  static async start({ clients, seed }: FleetOptions): Promise<Fleet> {
    const [master, other, sourceServer] = await Promise.all([
      startRedisServer(),
      startRedisServer(),
      startRedisServer(),
    ])
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: master.port })
    const members = await Promise.all(
      clients.map((client, place) =>
        Member.start({
          client,
          port: proxy.connection.port,
          sourcePort: sourceServer.port,
          place,
          places: clients.length,
          seed: seed + place,
        }),
      ),
    )
    const source = openSource(sourceServer.port)
    return new Fleet({ proxy, source, members, master, other }, sourceServer)
  }

  /** Of all processes together. */
  async load(perSecond: number): Promise<void> {
    this.#perSecond = perSecond / this.members.length
    await this.all((member) => member.order({ kind: 'load', perSecond: this.#perSecond }))
  }

  async rest(): Promise<void> {
    await this.all((member) => member.order({ kind: 'rest' }))
  }

  all<Result>(run: (member: Member) => Promise<Result>): Promise<Result[]> {
    return Promise.all(this.members.map(run))
  }

  figures(): Promise<Figures[]> {
    return this.all((member) => member.order<Figures>({ kind: 'figures' }))
  }

  resources(): Promise<Resources[]> {
    return this.all((member) => member.order<Resources>({ kind: 'resources' }))
  }

  /** Another process in its place, under the same load. */
  async replace(member: Member): Promise<void> {
    await member.kill()
    const { plan } = member
    const next = await Member.start({ ...plan, seed: plan.seed + 1_000 })
    this.members[this.members.indexOf(member)] = next
    await next.order({ kind: 'load', perSecond: this.#perSecond })
  }

  /** How long until every process says `ok`; Infinity: not within `limitMs`. */
  async okWithin(limitMs: number): Promise<number> {
    const began = performance.now()
    while (performance.now() - began < limitMs) {
      const all = await this.all((member) => member.order<string>({ kind: 'status' }))
      if (all.every((status) => status === 'ok')) return performance.now() - began
      await sleep(25)
    }
    return Infinity
  }

  /** Keys that Redis would keep for ever; the state of the tags may be one. */
  async keysWithoutExpiry(): Promise<string[]> {
    const script = `local found = {}
      for _, key in ipairs(redis.call('KEYS', '*')) do
        if redis.call('PTTL', key) == -1 then found[#found + 1] = key end
      end
      return found`
    const keys = (await this.master.ask('EVAL', script, 0)) as string[]
    return keys.filter((key) => !key.startsWith(`bw:${namespace}:{${namespace}%tags}:`))
  }

  async keys(): Promise<number> {
    return ((await this.master.ask('KEYS', '*')) as string[]).length
  }

  async end(): Promise<void> {
    for (const member of this.members) member.goOn()
    await Promise.all(this.members.map((member) => member.kill()))
    this.source.end()
    await this.proxy.close()
    await Promise.all([this.master, this.other, this.#sourceServer].map((server) => server.stop()))
  }
}
