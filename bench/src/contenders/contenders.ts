// Everything that can be measured, by name. A contender's code is imported when it is opened: its
// process has none of the others'.

import type { Extras } from './breakwater.ts'
import type { BareCodec, ClientName, Contender } from './contender.ts'

const bentocache: Contender = {
  name: 'bentocache',
  client: 'ioredis5',
  twoTiers: true,
  servesStale: true,
  open: async (setting) => (await import('./bentocache.ts')).open(setting),
}

const cacheable: Contender = {
  name: 'cacheable',
  client: 'redis5',
  twoTiers: true,
  servesStale: false,
  open: async (setting) => (await import('./cacheable.ts')).open(setting),
}

const cacheManager: Contender = {
  name: 'cache-manager',
  client: 'redis5',
  twoTiers: true,
  servesStale: false,
  open: async (setting) => (await import('./cache-manager.ts')).open(setting),
}

const asyncCacheDedupe: Contender = {
  name: 'async-cache-dedupe',
  client: 'ioredis5',
  twoTiers: false,
  servesStale: true,
  open: async (setting) => (await import('./async-cache-dedupe.ts')).open(setting),
}

const cachified: Contender = {
  name: 'cachified',
  client: 'redis5',
  twoTiers: false,
  servesStale: true,
  open: async (setting) => (await import('./cachified.ts')).open(setting),
}

const catbox: Contender = {
  name: 'catbox',
  client: 'ioredis5',
  twoTiers: false,
  servesStale: true,
  open: async (setting) => (await import('./catbox.ts')).open(setting),
}

const layeredLoader: Contender = {
  name: 'layered-loader',
  client: 'ioredis5',
  twoTiers: true,
  servesStale: false,
  open: async (setting) => (await import('./layered-loader.ts')).open(setting),
}

export const lru: Contender = {
  name: 'lru-cache',
  client: undefined,
  twoTiers: false,
  servesStale: false,
  open: async (setting) => (await import('./lru.ts')).open(setting),
}

const clientLabels: Readonly<Record<ClientName, string>> = {
  ioredis5: 'ioredis 5',
  ioredis6: 'ioredis 6',
  redis5: 'node-redis 5',
}

function breakwater(client: ClientName): Contender {
  return {
    name: client === 'ioredis5' ? 'breakwater' : `breakwater, ${clientLabels[client]}`,
    client,
    twoTiers: true,
    servesStale: true,
    open: async (setting) => (await import('./breakwater.ts')).open(client, setting),
  }
}

function bareRedis(client: ClientName, codec: BareCodec): Contender {
  return {
    name: bareName(client, codec),
    client,
    twoTiers: false,
    servesStale: false,
    open: async (setting) => (await import('./bare-redis.ts')).open(client, codec, setting),
  }
}

/** Without a codec: what a contender with that client is measured beside. */
export function bareName(client: ClientName, codec: BareCodec = 'codec'): string {
  return `${clientLabels[client]} + ${codec}`
}

export const ours = breakwater('ioredis5')

/** breakwater through each client major that it is measured with. */
export const oursByClient: readonly Contender[] = [
  ours,
  breakwater('ioredis6'),
  breakwater('redis5'),
]

/** What compression costs a hit that is large enough for it. */
export const oursUncompressed: Contender = {
  ...ours,
  name: 'breakwater, compress: false',
  open: async (setting) =>
    (await import('./breakwater.ts')).open('ioredis5', setting, { compress: false }),
}

function extra(name: string, extras: Extras): Contender {
  const open: Contender['open'] = async (setting) =>
    (await import('./breakwater.ts')).open('ioredis5', setting, extras)
  return { ...ours, name: `breakwater, ${name}`, open }
}

/** What it costs to be watched. */
export const oursWatched: readonly Contender[] = [
  extra('with Prometheus', { told: 'Prometheus' }),
  extra('with Prometheus and OpenTelemetry', { told: 'Prometheus and OpenTelemetry' }),
  extra('with verify: 0.001', { verify: 0.001 }),
]

/** The caches that breakwater is compared with. */
export const peers: readonly Contender[] = [
  bentocache,
  cacheable,
  cacheManager,
  asyncCacheDedupe,
  cachified,
  catbox,
  layeredLoader,
]

/** What the contenders are measured beside. */
const bases: readonly Contender[] = [
  bareRedis('ioredis5', 'codec'),
  bareRedis('ioredis6', 'codec'),
  bareRedis('redis5', 'codec'),
]

/** What coding costs without breakwater's checks, and in JSON. */
export const otherCodecs: readonly Contender[] = [
  bareRedis('ioredis5', 'msgpackr'),
  bareRedis('ioredis5', 'JSON'),
  bareRedis('redis5', 'JSON'),
]

const all = [
  ...oursByClient,
  oursUncompressed,
  ...oursWatched,
  ...peers,
  ...bases,
  ...otherCodecs,
  lru,
]

export function contenderOf(name: string): Contender {
  const found = all.find((contender) => contender.name === name)
  if (found === undefined) throw new Error(`no contender is called ${name}`)
  return found
}
