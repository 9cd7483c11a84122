/**
 * One cache's session with Redis: the operations of `StoreSession` in terms of the scripts in
 * `lua/`, each one round trip. What an operation means is in ports.ts, how it stays atomic in its
 * script. Replies are bytes on every client and protocol; nothing here waits, queues or retries.
 */
import { burstOf, type Tokens } from '../core/token-bucket.ts'
import type {
  Acquired,
  AcquireRequest,
  Beat,
  Bodies,
  Bumped,
  BumpRequest,
  EpochNews,
  EpochsRequest,
  FailRequest,
  Inspection,
  Published,
  PublishRequest,
  ReleaseReason,
  Renewed,
  Shards,
  StoreScope,
  StoreSession,
  Token,
  TokensRequest,
  TouchRequest,
  WriteRequest,
} from '../ports.ts'
import type {
  Argument,
  RedisCommands,
  RedisConnection,
  ScriptCall,
  Subscribed,
} from './commands.ts'
import { Demotion } from './demotion.ts'
import { Heartbeat } from './heartbeat.ts'
import { EvictionPolicy } from './eviction-policy.ts'
import { redisBodies } from './bodies.ts'
import { redisInspection } from './inspection.ts'
import { createLayout, type Layout } from './layout.ts'
import { bumpKinds, decodeMessage, encodeBump, encodeMessage } from './message.ts'
import { ReadBatch } from './read-batch.ts'
import { isFromReplica, isReply, refusalOf } from './refusal.ts'
import { readAcquired, readBumped, readEpochs, readTokens, text } from './reply.ts'
import { runScript, runScriptMany } from './run-script.ts'
import { scripts, type ScriptSource } from './scripts.generated.ts'
import { ServerIdentity } from './server-identity.ts'
import { sessionShards } from './session-shards.ts'
import { SilentConnecting } from './silent-connecting.ts'

/** Pollers among those who waited get their load's failure once, when no back-off runs. */
const minCollectMs = 1_000

/** In one answer about tags: half a megabyte at most, and who lacks more looks single ones up. */
const mostMarks = '5000'
/** In a namespace's state: about 10 MB. */
const mostLabels = '100000'

export class RedisSession implements StoreSession {
  readonly hasBus: boolean
  readonly fromReplica: boolean
  readonly shards: Shards | undefined
  readonly bodies: Bodies
  readonly inspection: Inspection
  readonly #id: string
  readonly #commands: RedisCommands
  readonly #layout: Layout
  readonly #reads: ReadBatch
  readonly #identity = new ServerIdentity()
  readonly #heartbeat: Heartbeat
  readonly #demotion: Demotion
  readonly #connecting: SilentConnecting
  readonly #unwatch: () => void
  readonly #eviction: EvictionPolicy
  readonly #subscribed: Subscribed | undefined
  #closed: Promise<void> | undefined

  constructor({ commands, subscribe }: RedisConnection, scope: StoreScope) {
    this.#commands = commands
    this.#eviction = new EvictionPolicy((policy) => scope.onEviction?.(policy))
    this.fromReplica = commands.fromReplica
    this.#reads = new ReadBatch(commands)
    this.#demotion = new Demotion(scope.clock, () => commands.findMaster())
    this.#layout = createLayout({
      namespace: scope.namespace,
      id: scope.id,
      db: commands.db,
      keyPrefix: commands.keyPrefix,
    })
    this.#id = scope.id
    this.bodies = redisBodies(commands, this.#layout)
    this.inspection = redisInspection(commands, this.#layout)
    this.#connecting = new SilentConnecting(commands, scope.clock)
    this.shards = sessionShards(commands, this.#layout, this.#identity)
    this.#unwatch = commands.watch((ready) => {
      if (ready) this.#identity.forget()
      this.#connecting.ready(ready)
      scope.onReady(ready)
    })
    commands.connect(scope.onFault)
    this.hasBus = subscribe !== undefined
    this.#heartbeat = new Heartbeat({
      commands,
      identity: this.#identity,
      channel: this.hasBus ? this.#layout.ownChannel : undefined,
      now: () => scope.clock.now(),
      onFault: (error) => scope.onFault(error),
    })
    this.#subscribed = subscribe?.({
      channels: [this.#layout.channel, this.#layout.ownChannel],
      onMessage: (_channel, bytes) => {
        const message = decodeMessage(bytes)
        if (message !== undefined) scope.onMessage(message)
      },
      onState: (state) => {
        if (state === 'up' && !commands.ready) commands.connecting?.hurry?.()
        scope.onBus(state)
      },
      onFault: (error) => scope.onFault(error),
      after: (ms, run) => scope.clock.after(ms, run),
      random: () => scope.clock.random(),
    })
  }

  get ready(): boolean {
    return this.#commands.ready
  }

  read(key: string): Promise<Uint8Array | undefined> {
    return this.#reads.read(this.#layout.frameKey(key))
  }

  readMany(keys: readonly string[]): Promise<readonly (Uint8Array | null | undefined | Error)[]> {
    return this.#reads.readMany(keys.map((key) => this.#layout.frameKey(key)))
  }

  async acquire(request: AcquireRequest): Promise<Acquired> {
    const { key, token, leaseMs, seen, waitedFor, mode, announces } = request
    try {
      const all = announces === true ? 'all' : ''
      const args = [token, String(leaseMs), seen ?? '', waitedFor ?? '', mode, all]
      const answer = readAcquired(await this.#run(scripts.acquire, { keys: this.#both(key), args }))
      if (answer.type === 'lease') this.#demotion.accepted()
      return answer
    } catch (error) {
      const why = refusalOf(error)
      if (why === undefined) throw error
      return { type: 'nolease', why }
    }
  }

  async publish({ key, token, frame, lifeMs }: PublishRequest): Promise<Published> {
    const args = [token, String(lifeMs), frame, this.#layout.channel, ...wakes(key, token)]
    return text(await this.#run(scripts.publish, { keys: this.#both(key), args })) as Published
  }

  async touch(request: TouchRequest): Promise<'ok' | 'fenced' | 'gone'> {
    const { key, token, seen, head, lifeMs } = request
    const args = [token, String(lifeMs), head, seen, this.#layout.channel, ...wakes(key, token)]
    const reply = await this.#run(scripts.touch, { keys: this.#both(key), args })
    return text(reply) as 'ok' | 'fenced' | 'gone'
  }

  async renew(request: { key: string; token: Token; leaseMs: number }): Promise<Renewed> {
    const keys = [this.#layout.leaseKey(request.key)]
    const args = [request.token, String(request.leaseMs)]
    return text(await this.#run(scripts.renew, { keys, args })) as Renewed
  }

  async release(request: { key: string; token: Token; why: ReleaseReason }): Promise<void> {
    const { key, token, why } = request
    const args = [token, this.#layout.channel, encodeMessage({ type: 'released', key, token, why })]
    await this.#run(scripts.release, { keys: [this.#layout.leaseKey(key)], args })
  }

  async fail({ key, token, error, backoffMs }: FailRequest): Promise<void> {
    const collectMs = Math.max(minCollectMs, backoffMs)
    const message = encodeMessage({ type: 'failed', key, token, error, backoffMs })
    const { channel } = this.#layout
    const args = [token, error, String(backoffMs), String(collectMs), channel, message]
    await this.#run(scripts.fail, { keys: [this.#layout.leaseKey(key)], args })
  }

  invalidate(keys: readonly string[], id: Token): Promise<void> {
    return this.#tellAbout(scripts.invalidate, keys, id, ['invalidated'])
  }

  expire(keys: readonly string[], id: Token): Promise<void> {
    return this.#tellAbout(scripts.expire, keys, id, ['expired', 'invalidated'])
  }

  async write(request: WriteRequest): Promise<'ok' | 'late' | 'kept'> {
    const { key, frame, lifeMs, stamp, notAfter } = request
    const message = encodeMessage({ type: 'written', key, id: stamp })
    const args = [String(lifeMs), frame, String(notAfter), this.#layout.channel, message]
    const reply = await this.#run(scripts.write, { keys: this.#both(key), args })
    return text(reply) as 'ok' | 'late' | 'kept'
  }

  async want(key: string, id: Token): Promise<void> {
    if (!this.hasBus) return
    const servers = this.#commands.servers()
    const own = this.#commands.shards?.serverOf(this.#layout.frameKey(key))
    // Whatever node it is published through, all hear it: rather one that is known to be there.
    const server = servers.find(({ name }) => name === own) ?? servers[0]
    await server?.publish(this.#layout.channel, encodeMessage({ type: 'wanted', key, id }))
  }

  async rollCall(): Promise<void> {
    const message = encodeMessage({ type: 'rollCall', id: this.#id })
    await this.#commands.servers()[0]?.publish(this.#layout.channel, message)
  }

  async present(to: string, text: string): Promise<void> {
    // It comes from the bus, on which anyone may write, and becomes part of a channel's name.
    if (!/^[\w-]{14}$/.test(to)) return
    const message = encodeMessage({ type: 'present', id: this.#id, text })
    await this.#commands.servers()[0]?.publish(this.#layout.channelOf(to), message)
  }

  async epochs({ since, known, settling, labels }: EpochsRequest): Promise<EpochNews> {
    const args = [String(since), mostMarks, String(known), settling ? '1' : '', ...labels]
    return readEpochs(await this.#run(scripts.epochs, { keys: this.#layout.tagKeys, args }))
  }

  async bump(request: BumpRequest): Promise<Bumped> {
    const { kind, known, settleMs, labels } = request
    const { head, tail } = encodeBump(request)
    const numbers = [String(known), String(settleMs), mostLabels]
    const args = [bumpKinds[kind], ...numbers, this.#layout.channel, head, tail, ...labels]
    const bumped = readBumped(await this.#run(scripts.bump, { keys: this.#layout.tagKeys, args }))
    this.#demotion.accepted()
    return bumped
  }

  async tokens({ wanted, perSecond }: TokensRequest): Promise<Tokens> {
    const args = [wanted, perSecond, burstOf(perSecond)].map(String)
    return readTokens(await this.#run(scripts.tokens, { keys: [this.#layout.tokensKey], args }))
  }

  beat(n: number, asked?: EpochsRequest): Promise<Beat> {
    this.#eviction.ask(this.#commands.servers())
    return this.#heartbeat.beat(n, async () => asked && this.epochs(asked))
  }

  isRefusal(error: unknown): boolean {
    return refusalOf(error) !== undefined
  }

  isReply(error: unknown): boolean {
    return isReply(error)
  }

  received(): number {
    return this.#commands.received
  }

  reconnect(what: 'commands' | 'bus'): void {
    if (what === 'bus') this.#subscribed?.renew()
    else this.#commands.reconnect()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#unwatch()
    this.#demotion.close()
    this.#connecting.close()
    await this.#subscribed?.close()
  }

  #both(key: string): readonly string[] {
    return [this.#layout.frameKey(key), this.#layout.leaseKey(key)]
  }

  #run(script: ScriptSource, call: ScriptCall): Promise<unknown> {
    return this.#heeding(runScript(this.#commands, script, call))
  }

  /** A master that became a replica does not always close its connections. */
  async #heeding<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      if (isFromReplica(error)) {
        // Have the next beat look again.
        this.#identity.forget()
        if (!this.fromReplica) this.#demotion.refused()
      }
      throw error
    }
  }

  async #tellAbout(
    script: ScriptSource,
    keys: readonly string[],
    id: Token,
    types: readonly ('invalidated' | 'expired')[],
  ): Promise<void> {
    const calls = keys.map((key) => {
      const messages = types.map((type): Argument => encodeMessage({ type, key, id }))
      return { keys: this.#both(key), args: [this.#layout.channel, ...messages] }
    })
    const [only] = calls
    if (only === undefined) return
    if (calls.length === 1) await this.#run(script, only)
    else await this.#heeding(runScriptMany(this.#commands, script, calls))
    this.#demotion.accepted()
  }
}

/** What a script may publish about a fill: the value, or that everyone must load for himself. */
function wakes(key: string, token: Token): readonly Argument[] {
  return [
    encodeMessage({ type: 'published', key, token, frame: undefined }),
    encodeMessage({ type: 'released', key, token, why: 'unstorable' }),
  ]
}
