/** One imagined process: the real engine on a clock, a client and a loader that are not. */
import type { Cache, Resource } from '../api.ts'
import { makeCache } from '../cache/create-cache.ts'
import { msgpack } from '../codecs/msgpack.ts'
import { compressions } from '../compression/compressions.ts'
import { lruMemory } from '../memory/lru-memory.ts'
import { refreshAhead } from '../refresh/ahead.ts'
import type { BusMessage, CodecPort, StoreScope } from '../ports.ts'
import { BusLink } from './bus-link.ts'
import { CommandLink, type ClientManners } from './command-link.ts'
import type { Flaw } from './flaws.ts'
import { Host } from './host.ts'
import type { Load } from './load-watch.ts'
import { Loader } from './loader.ts'
import { Random } from './random.ts'
import { patience } from './patience.ts'
import type { Operation, Server } from './server.ts'
import { shapes, type AnyShape, type ShapeName } from './shapes.ts'
import { simulatedStore } from './simulated-store.ts'
import type { Row, Source, Value } from './source.ts'
import type { Timeline } from './timeline.ts'
import type { Weather } from './wire.ts'

export interface ProcessOptions {
  /** Never the same twice, also of processes that take the place of others. */
  readonly id: number
  readonly seed: number
  readonly timeline: Timeline
  readonly source: Source
  readonly server: Server
  readonly weather: Weather
  readonly manners: ClientManners
  readonly shapes: readonly ShapeName[]
  readonly hasBus: boolean
  readonly skewMs: number
  readonly loads: Load
  readonly hanging: Set<() => void>
  heard(message: BusMessage, sentAt: number): void
  misused(operation: Operation): void
  /** Wraps what the process asks of its store, for protocols that are broken by intent. */
  readonly flaw: Flaw | undefined
}

const codec = msgpack() as CodecPort

export class SimulatedProcess {
  readonly id: number
  readonly bornAt: number
  readonly host: Host
  readonly link: CommandLink
  readonly bus: BusLink
  readonly cache: Cache
  readonly #resources = new Map<string, Resource<string, Value>>()
  state: 'open' | 'closing' | 'closed' | 'crashed' = 'open'
  /** What is known of its loads. */
  readonly loads: Load
  isBreakerOpen = false
  breakerSince = 0

  constructor(options: ProcessOptions) {
    const { id, seed, timeline, server, source, weather, manners } = options
    this.id = id
    this.bornAt = timeline.now
    this.loads = options.loads
    const random = (name: string): Random => new Random(seed, `${name} ${id}`)
    const nature = random('nature')
    this.host = new Host({
      timeline,
      random: random('clock'),
      skewMs: nature.between(-1, 1) * options.skewMs,
      drift: nature.between(-1, 1) * 2e-4,
    })
    const { host } = this
    let scope: StoreScope | undefined
    const common = { client: id, host, timeline, weather, server }
    this.link = new CommandLink({
      ...common,
      manners,
      random: random('commands'),
      onReady: (ready) => scope?.onReady(ready),
    })
    this.bus = new BusLink({
      ...common,
      random: random('bus'),
      onBus: (state) => scope?.onBus(state),
      onMessage: (message, sentAt) => {
        scope?.onMessage(message)
        options.heard(message, sentAt)
      },
    })
    const store = simulatedStore({
      hasBus: options.hasBus,
      link: this.link,
      bus: this.bus,
      opened: (opened) => (scope = opened),
      closed: () => server.leave(id),
      onMisuse: options.misused,
      wrap: options.flaw?.client,
    })
    const { places, queue, ...timeouts } = patience
    this.cache = makeCache(
      {
        namespace: 'simulated',
        ttl: 1_000,
        store,
        // Fewer than there may be rows: some are dropped.
        memory: { maxEntries: 7 },
        limit: { concurrency: places, queue },
        uncacheableFor: 500,
        ...timeouts,
      },
      {
        clock: host.clock,
        codecs: [codec],
        compressions,
        // No value here is big, and nothing takes time but what is made to.
        turn: async () => {},
        slices: () => () => undefined,
        newId: () => `p${id}`.padEnd(14, '_'),
        process: { pid: id, host: 'simulated' },
        ahead: refreshAhead,
        memory: (bounds) => options.flaw?.memory?.(lruMemory(bounds)) ?? lruMemory(bounds),
      },
    )
    this.cache.on('breaker', ({ state }) => {
      this.isBreakerOpen = state === 'open'
      this.breakerSince = timeline.now
    })
    const loader = new Loader({
      process: id,
      host,
      timeline,
      random: random('loader'),
      source,
      watch: options.loads,
      hanging: options.hanging,
    })
    for (const name of options.shapes) this.#define(name, source, loader)
  }

  resource(row: Row): Resource<string, Value> {
    return this.#resources.get(row.of)!
  }

  #define(name: ShapeName, source: Source, loader: Loader): void {
    const shape: AnyShape = shapes[name]
    const rowOf = (arg: string): Row => source.byKey.get(keyOf(name, arg))!
    const resource = this.cache.define<string, Value>({
      name,
      load: (arg, ctx) => loader.load(shape, rowOf(arg), ctx),
      ...(shape.isBatched === true
        ? { loadMany: (args, ctx) => loader.loadMany(shape, args.map(rowOf), ctx) }
        : {}),
      ...(shape.tagged === 'each' ? { tags: (_value, arg) => [tagOf(arg)] } : {}),
      ...(shape.tagged === 'all' ? { tags: [tagOf('0')] } : {}),
      ...shape.options,
    })
    this.#resources.set(name, resource as unknown as Resource<string, Value>)
  }
}

/** As the cache names it (`core/keys.ts`). */
export function keyOf(name: string, arg: string): string {
  return `r:${name}:${arg}`
}

/** Every other row has the same tag. */
export function tagOf(arg: string): string {
  return `group ${Number(arg) % 2}`
}
