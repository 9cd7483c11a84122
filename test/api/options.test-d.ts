// Checked by `npm run types`, never run: options that must compile, and options that must not (T162).

import { createCache, parseDuration, type BreakwaterError } from '../../src/index.ts'
import type { Cache, CacheEvents, Clock, Duration, ErrorCode } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { is, type Same } from '../support/types.ts'

declare const maybeSignal: AbortSignal | undefined
declare const maybeTtl: Duration | undefined
declare const fromEnvironment: string

const cache = createCache({
  namespace: 'shop',
  store: faultyStore(memoryStore()),
  memory: { maxEntries: 10_000, maxBytes: '64MiB', ttl: undefined },
  ttl: '60s',
  staleWhileRevalidate: '30s',
  staleIfError: '1h',
  softTimeout: false,
  loadTimeout: 30_000,
  earlyRefresh: { beta: 1 },
  values: 'clone',
  codec: json(),
  limit: { concurrency: 'adaptive', queue: '5s' },
  enabled: undefined,
  waitUntil: (work) => void work.then(() => {}),
  clock: manualClock(),
})
is<Same<typeof cache, Cache>>(true)
createCache({ namespace: 'a', ttl: 0, memory: false, codec: msgpack(), earlyRefresh: false })
createCache({ namespace: 'a', ttl: '1.5s', maxBytes: '0.5GiB', limit: { concurrency: 8 } })
createCache({ namespace: 'a', ttl: parseDuration(fromEnvironment), staleIfError: maybeTtl })

// @ts-expect-error a namespace is needed
createCache({ ttl: '60s' })
// @ts-expect-error a ttl is needed
createCache({ namespace: 'a' })
// @ts-expect-error `undefined` is no ttl
createCache({ namespace: 'a', ttl: undefined })
// @ts-expect-error text from the environment goes through parseDuration
createCache({ namespace: 'a', ttl: fromEnvironment })
// @ts-expect-error no unit
createCache({ namespace: 'a', ttl: '10' })
// @ts-expect-error weeks are no unit
createCache({ namespace: 'a', ttl: '1w' })
// @ts-expect-error MB is not said, since half of its readers mean 1,000,000
createCache({ namespace: 'a', ttl: '1s', maxBytes: '8MB' })
// @ts-expect-error misspelt
createCache({ namespace: 'a', ttl: '1s', staleWhileRevalidat: '1s' })
// @ts-expect-error misspelt, one level down
createCache({ namespace: 'a', ttl: '1s', memory: { maxEntrys: 5 } })
// @ts-expect-error true says nothing that the default does not
createCache({ namespace: 'a', ttl: '1s', memory: true })
// @ts-expect-error text is no number
createCache({ namespace: 'a', ttl: '1s', jitter: '0.1' })
// @ts-expect-error none of the three
createCache({ namespace: 'a', ttl: '1s', values: 'copy' })
// @ts-expect-error a factory, not what it makes
createCache({ namespace: 'a', ttl: '1s', store: memoryStore })
// @ts-expect-error a codec is not a store
createCache({ namespace: 'a', ttl: '1s', store: json() })
// @ts-expect-error an option of definitions
createCache({ namespace: 'a', ttl: '1s', fallback: () => 1 })
// @ts-expect-error an option of the cache
cache.define({ name: 'a', load: async (n: number) => n, storeTimeout: '1s' })
// @ts-expect-error misspelt
cache.define({ name: 'a', loader: async (n: number) => n })
// @ts-expect-error in a definition, store says yes or no
cache.define({ name: 'a', load: async (n: number) => n, store: memoryStore() })

// A call's own options; `undefined` is "not given".
const item = cache.define({ name: 'item', load: async (n: number) => n })
void item.get(1, { signal: maybeSignal, timeout: undefined, maxAge: maybeTtl })
void item.get(1, {})
void item.get(1, undefined)
// @ts-expect-error misspelt
void item.get(1, { maxage: '1s' })
// @ts-expect-error a signal, not its controller
void item.get(1, { signal: new AbortController() })
void item.set(1, 2, { ttl: '5s', isNegative: (value) => value === 0 })
// @ts-expect-error a call's option
void item.set(1, 2, { timeout: '5s' })

// One-offs.
const products = cache.getOrLoad('products:v1', async () => [1, 2], { ttl: '60s' })
is<Same<typeof products, Promise<number[]>>>(true)
const nothing = cache.getOrLoad('a', (ctx): string | null => (ctx.reason === 'miss' ? null : 'a'))
is<Same<typeof nothing, Promise<string | null>>>(true)
void cache.getOrLoad('a', async () => 1, { signal: maybeSignal, fallback: () => 2 })
// @ts-expect-error not what the loader gives
void cache.getOrLoad('a', async () => 1, { fallback: () => 'two' })
// @ts-expect-error a key is text
void cache.getOrLoad(5, async () => 1)
void cache.peek<number>('a').then((seen) => {
  if (seen.state === 'missing') return undefined
  is<Same<typeof seen.value, number>>(true)
  is<Same<typeof seen.meta, unknown>>(true)
  return seen.freshUntil - seen.storedAt
})
void cache.peek('a').then((seen) => {
  if (seen.state !== 'missing') is<Same<typeof seen.value, unknown>>(true)
})
void cache.set('a', 5, { isNegative: (value) => value === 0 })
void item.lookup(1).then((found) => {
  // @ts-expect-error a fallback has no instants
  void found.storedAt
  if (found.outcome === 'hit' || found.outcome === 'stale') {
    is<Same<typeof found.tier, 'memory' | 'store' | 'source'>>(true)
    void found.storedAt.toFixed()
  }
  return found.value.toFixed()
})

// Events by name, with their payloads.
const stop = cache.on('answer', ({ name, key, outcome }) => {
  is<Same<typeof name, string>>(true)
  is<Same<typeof key, string>>(true)
  is<Same<typeof outcome, CacheEvents['answer']['outcome']>>(true)
})
is<Same<typeof stop, () => void>>(true)
cache.on('load', ({ ms }) => ms.toFixed())
cache.on('loadFailed', ({ error }) => is<Same<typeof error, unknown>>(true))
cache.on('fenced', ({ key }) => key.length)
cache.on('invalidated', ({ keys }) => is<Same<typeof keys, string[] | undefined>>(true))
cache.on('unstorable', ({ path }) => path.length)
// @ts-expect-error no such event
cache.on('answered', () => {})
// @ts-expect-error no such property
cache.on('load', ({ duration }) => duration)

// Codes are a closed set; a clock is three functions.
declare const error: BreakwaterError
is<Same<typeof error.code, ErrorCode>>(true)
is<Same<typeof error.key, string | undefined>>(true)
is<Same<NonNullable<typeof error.remote>, { readonly name: string; readonly code?: string }>>(true)
const clock: Clock = { now: () => 0, random: () => 0.5, after: (_ms, _run) => () => {} }
createCache({ namespace: 'a', ttl: '1s', clock })

async function scoped(): Promise<number> {
  await using own = createCache({ namespace: 'a', ttl: '1s' })
  return own.getOrLoad('a', async () => 1)
}
void scoped
void cache.close()
void cache.close({ timeout: '1s' })
void cache.close({ timeout: undefined })
