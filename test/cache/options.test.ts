import { describe, expect, test } from 'vitest'
import { json, jsonCodec } from '../../src/codecs/json.ts'
import { compressions } from '../../src/compression/compressions.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { cacheDefaults, entryDefaults } from '../../src/cache/option-defaults.ts'
import {
  resolveCacheOptions,
  resolveCall,
  resolveDefinition,
  resolveEntry,
} from '../../src/cache/options.ts'
import { BreakwaterError } from '../../src/core/errors.ts'
import { port } from '../../src/ports.ts'
import type { Clock, StorePort } from '../../src/ports.ts'
import { cronSchedule } from '../../src/refresh/cron.ts'

const clock: Clock = { now: () => 0, random: () => 0, after: () => () => {} }
const environment = { codecs: [messagePack], compressions, clock }
const store = { [port]: 'store', open: () => ({}) } as unknown as StorePort
const minimal = { namespace: 'shop', ttl: '60s' }
const load = (): number => 1

const cacheOf = (options: object) =>
  resolveCacheOptions({ ...minimal, ...options } as never, environment)
const entryOf = (base: object, options: object) =>
  resolveEntry(cacheOf(base).entry, options as never, 'products')
const definitionOf = (definition: unknown) =>
  resolveDefinition(cacheOf({}).entry, definition as never, cronSchedule)

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(BreakwaterError)
    expect((error as BreakwaterError).code).toBe('INVALID_OPTION')
    return (error as BreakwaterError).message
  }
  return expect.unreachable('it was accepted')
}

describe('a cache with nothing but namespace and ttl', () => {
  test('has the documented defaults', () => {
    const { stated: _, isFailure, isNegative, ...entry } = cacheOf({}).entry
    expect(entry).toEqual({
      compress: { over: 2048, by: compressions.usual },
      compressions,
      schema: undefined,
      ttlMs: 60_000,
      staleWhileRevalidateMs: 0,
      staleIfErrorMs: 0,
      softTimeoutMs: undefined,
      loadTimeoutMs: 30_000,
      waitTimeoutMs: 30_000,
      leaseMs: 3_000,
      negativeTtlMs: 30_000,
      errorBackoffMs: 1_000,
      errorTtlMs: 0,
      uncacheableForMs: 5_000,
      jitter: 0.1,
      earlyRefresh: { beta: 1, maxLead: 0.25 },
      values: 'freeze',
      codec: messagePack,
      maxBytes: 8 * 1024 ** 2,
      mode: 'normal',
      memory: true,
      store: true,
      fallback: undefined,
      errors: undefined,
      tags: { fixed: [], of: undefined },
      precompute: undefined,
    })
    expect(isFailure(new Error('x'))).toBe(true)
    expect([null, undefined, 0, '', false, NaN].map(isNegative)).toEqual([true, true, false, false, false, false]) // prettier-ignore
    const { entry: _entry, ...rest } = cacheOf({})
    expect(rest).toEqual({
      namespace: 'shop',
      store: undefined,
      memory: { maxEntries: 10_000, maxBytes: 64 * 1024 ** 2, ttlMs: undefined },
      limit: {
        concurrency: { initial: 64, min: 8, max: 256 },
        queueMs: 5_000,
        perSecond: undefined,
      },
      storeTimeoutMs: 100,
      connectTimeoutMs: 2_000,
      outageTtlMs: 5_000,
      enabled: true,
      precompute: true,
      waitUntil: undefined,
      clock,
    })
  })

  test('is the same when the defaults are written out', () => {
    const { isFailure: _a, isNegative: _b, stated: _c, ...written } = cacheOf({ ...entryDefaults, ...cacheDefaults }).entry // prettier-ignore
    const { isFailure: _d, isNegative: _e, stated: _f, ...silent } = cacheOf({}).entry
    expect(written).toEqual(silent)
  })

  test('is the same when everything else is undefined: that means "not given"', () => {
    const names = [...Object.keys(entryDefaults), ...Object.keys(cacheDefaults)]
    const undefineds = Object.fromEntries([...names, 'store', 'codec', 'clock', 'waitUntil', 'tags'].map((name) => [name, undefined])) // prettier-ignore
    expect(cacheOf(undefineds).entry.leaseMs).toBe(3_000)
    expect(
      cacheOf({ earlyRefresh: { beta: undefined }, memory: { ttl: undefined }, limit: {} }),
    ).toMatchObject({
      limit: { concurrency: { initial: 64 } },
      entry: { earlyRefresh: { beta: 1, maxLead: 0.25 } },
    })
  })
})

describe('a value that is given', () => {
  test.each([
    { given: { ttl: 0 }, expected: { ttlMs: 0, negativeTtlMs: 0 } },
    { given: { ttl: '10s' }, expected: { ttlMs: 10_000, negativeTtlMs: 10_000 } },
    { given: { ttl: 0.2 }, expected: { ttlMs: 1 } },
    { given: { ttl: '60d' }, expected: { ttlMs: 5_184_000_000 } },
    { given: { negativeTtl: 0 }, expected: { negativeTtlMs: 0 } },
    { given: { loadTimeout: '5s' }, expected: { loadTimeoutMs: 5_000, waitTimeoutMs: 5_000 } },
    { given: { loadTimeout: '5s', waitTimeout: '1s' }, expected: { waitTimeoutMs: 1_000 } },
    { given: { waitTimeout: 0 }, expected: { waitTimeoutMs: 0 } },
    { given: { staleIfError: '1h', softTimeout: '200ms' }, expected: { softTimeoutMs: 200 } },
    { given: { softTimeout: false }, expected: { softTimeoutMs: undefined } },
    { given: { jitter: 0 }, expected: { jitter: 0 } },
    { given: { jitter: 1 }, expected: { jitter: 1 } },
    { given: { earlyRefresh: false }, expected: { earlyRefresh: undefined } },
    {
      given: { earlyRefresh: { beta: 2 } },
      expected: { earlyRefresh: { beta: 2, maxLead: 0.25 } },
    },
    {
      given: { earlyRefresh: { maxLead: 0 } },
      expected: { earlyRefresh: { beta: 1, maxLead: 0 } },
    },
    { given: { values: 'share' }, expected: { values: 'share' } },
    { given: { codec: json() }, expected: { codec: jsonCodec } },
    { given: { maxBytes: '2KiB' }, expected: { maxBytes: 2048 } },
    { given: { compress: false }, expected: { compress: { over: Infinity } } },
    { given: { compress: { over: 0 } }, expected: { compress: { over: 0 } } },
    {
      given: { compress: { over: '1KiB', algorithm: 'brotli' } },
      expected: { compress: { over: 1024, by: { name: 'brotli' } } },
    },
  ])('of the cache is resolved: $given (T043)', ({ given, expected }) => {
    expect(cacheOf(given).entry).toMatchObject(expected)
  })

  test.each([
    { given: { store }, expected: { store } },
    { given: { memory: false }, expected: { memory: undefined } },
    {
      given: { memory: { maxEntries: 5, maxBytes: '1MiB', ttl: '1m' } },
      expected: { memory: { maxEntries: 5, maxBytes: 1024 ** 2, ttlMs: 60_000 } },
    },
    {
      given: { limit: { concurrency: 8, queue: 0 } },
      expected: { limit: { concurrency: 8, queueMs: 0 } },
    },
    {
      given: { limit: { concurrency: 'adaptive' } },
      expected: { limit: { concurrency: { initial: 64, min: 8, max: 256 }, queueMs: 5_000 } },
    },
    {
      given: { limit: { concurrency: { max: 20 }, perSecond: 0.5 } },
      expected: { limit: { concurrency: { initial: 20, min: 8, max: 20 }, perSecond: 0.5 } },
    },
    {
      given: { storeTimeout: 20, connectTimeout: 0, outageTtl: '1s' },
      expected: { storeTimeoutMs: 20, connectTimeoutMs: 0, outageTtlMs: 1_000 },
    },
    { given: { enabled: false }, expected: { enabled: false } },
  ])('of the cache’s own is resolved: $given', ({ given, expected }) => {
    expect(cacheOf(given)).toMatchObject(expected)
  })

  test.each([
    { base: {}, given: { ttl: '5m' }, expected: { ttlMs: 300_000, negativeTtlMs: 30_000 } },
    { base: { ttl: '10s' }, given: { ttl: '5m' }, expected: { negativeTtlMs: 30_000 } },
    {
      base: { ttl: '10s', negativeTtl: '2s' },
      given: { ttl: '1s' },
      expected: { negativeTtlMs: 1_000 },
    },
    { base: {}, given: { loadTimeout: '5s' }, expected: { waitTimeoutMs: 5_000 } },
    {
      base: { waitTimeout: '9s' },
      given: { loadTimeout: '5s' },
      expected: { waitTimeoutMs: 9_000 },
    },
    {
      base: { staleIfError: '1h', softTimeout: '1s' },
      given: { staleIfError: 0 },
      expected: { softTimeoutMs: undefined, staleIfErrorMs: 0 },
    },
    {
      base: { staleIfError: '1h', softTimeout: '1s' },
      given: { softTimeout: false },
      expected: { softTimeoutMs: undefined },
    },
    {
      base: { staleIfError: '1h', softTimeout: '1s' },
      given: { loadTimeout: '500ms' },
      expected: { loadTimeoutMs: 500 },
    },
    {
      base: { staleWhileRevalidate: '1m' },
      given: { staleWhileRevalidate: 0 },
      expected: { staleWhileRevalidateMs: 0 },
    },
    {
      base: { staleWhileRevalidate: '1m' },
      given: { staleWhileRevalidate: undefined },
      expected: { staleWhileRevalidateMs: 60_000 },
    },
    {
      base: { earlyRefresh: { beta: 2 } },
      given: { earlyRefresh: { maxLead: 0.5 } },
      expected: { earlyRefresh: { beta: 2, maxLead: 0.5 } },
    },
    {
      base: { earlyRefresh: false },
      given: { earlyRefresh: {} },
      expected: { earlyRefresh: { beta: 1, maxLead: 0.25 } },
    },
    { base: {}, given: { memory: false, store: false }, expected: { memory: false, store: false } },
    { base: { memory: false, store }, given: { ttl: 1 }, expected: { memory: true, store: true } },
  ])('of an entry goes before the cache’s: $base and $given', ({ base, given, expected }) => {
    expect(entryOf(base, given)).toMatchObject(expected)
  })

  test('is read once: neither changed nor kept (T034)', () => {
    const options = Object.freeze({
      ...minimal,
      earlyRefresh: Object.freeze({ beta: 2 }),
      memory: Object.freeze({ maxEntries: 5 }),
      limit: { concurrency: 3 },
    })
    const rules = resolveCacheOptions(options as never, environment)
    options.limit.concurrency = 99
    expect(rules.limit.concurrency).toBe(3)
    const before = structuredClone({
      ttlMs: rules.entry.ttlMs,
      earlyRefresh: rules.entry.earlyRefresh,
    })
    resolveEntry(rules.entry, { ttl: 5, earlyRefresh: { beta: 9 } }, 'x')
    expect(rules.entry).toMatchObject(before)
    expect(() => Object.assign(rules.entry, { ttlMs: 1 })).toThrow(TypeError)
  })

  test('may be inherited, or come from a getter', () => {
    class Config {
      readonly #seconds = 7
      get namespace(): string {
        return 'shop'
      }
      get ttl(): number {
        return this.#seconds * 1_000
      }
      get memory(): false {
        return false
      }
    }
    const rules = resolveCacheOptions(new Config(), environment)
    expect(rules).toMatchObject({ memory: undefined, entry: { ttlMs: 7_000, memory: true } })
    const base = cacheOf({}).entry
    expect(resolveEntry(base, Object.create({ ttl: 5 }), 'x').ttlMs).toBe(5)
  })

  test('is resolved once for calls that repeat it, and for each on its own where it differs', () => {
    const base = cacheOf({}).entry
    const first = resolveEntry(base, { ttl: '5s', memory: false }, 'getOrLoad')
    expect(resolveEntry(base, { ttl: '5s', memory: false }, 'getOrLoad')).toBe(first)
    expect(resolveEntry(base, { ttl: '5s' }, 'getOrLoad').memory).toBe(true)
    expect(resolveEntry(base, { ttl: 5 }, 'getOrLoad').ttlMs).toBe(5)
    expect(resolveEntry(cacheOf({ lease: '9s' }).entry, { ttl: '5s' }, 'x').leaseMs).toBe(9_000)
    const fallback = (): number => 1
    expect(resolveEntry(base, { ttl: '5s', fallback }, 'getOrLoad').fallback?.(0, 0)).toBe(1)
    for (let i = 1; i < 500; i++) expect(resolveEntry(base, { ttl: i }, 'x').ttlMs).toBe(i)
    for (let i = 0; i < 2; i++) {
      expect(refusal(() => resolveEntry(base, { ttl: NaN }, 'x'))).toMatch(/^x.ttl: expected/)
    }
  })

  test('nowhere costs nothing: the rules are the very same', () => {
    const base = cacheOf({}).entry
    expect(resolveEntry(base, {}, 'get')).toBe(base)
    expect(resolveEntry(base, { ttl: undefined }, 'get')).toBe(base)
  })
})

const notDurations = [
  NaN,
  -1,
  Infinity,
  -Infinity,
  '60',
  '1 s',
  '-1s',
  'soon',
  '',
  null,
  true,
  {},
  [],
  5n,
]

describe('refused with the option’s name (T042)', () => {
  const durations =
    'ttl staleWhileRevalidate staleIfError softTimeout loadTimeout waitTimeout lease negativeTtl errorBackoff errorTtl uncacheableFor storeTimeout connectTimeout outageTtl'.split(
      ' ',
    )
  test.each(durations)('%s that is no duration', (name) => {
    for (const given of notDurations) {
      expect(refusal(() => cacheOf({ [name]: given }))).toMatch(
        new RegExp(`^${name}: expected .+, got`),
      )
    }
  })

  const functions = ['', 'x', 5, null, true, {}]
  test.each([
    {
      name: 'namespace',
      bad: [undefined, '', 'a b', 'a:b', 'x'.repeat(65), 'ä', '{a}', 'a*', 5, null],
    },
    { name: 'jitter', bad: [NaN, -0.1, 1.1, '0.1', null, false, Infinity] },
    { name: 'earlyRefresh', bad: [true, 1, 0, 'on', null, []] },
    { name: 'values', bad: ['frozen', '', true, null, 1] },
    { name: 'codec', bad: [null, {}, json, 'json', { encode() {}, decode() {} }] },
    { name: 'maxBytes', bad: [0, -1, NaN, Infinity, '8MB', '8', null, true] },
    { name: 'isFailure', bad: functions },
    { name: 'waitUntil', bad: functions },
    { name: 'store', bad: [null, {}, 'redis://', true, () => store, { open() {} }] },
    { name: 'memory', bad: [true, 5, 'off', null, []] },
    { name: 'limit', bad: [null, 5, 'adaptive', []] },
    { name: 'enabled', bad: ['false', 0, 1, null] },
    { name: 'clock', bad: [null, 5, {}, Date, { now() {} }] },
    { name: 'lease', bad: [0, 1, 99, '50ms'] },
    { name: 'loadTimeout', bad: [0, '0s'] },
    { name: 'storeTimeout', bad: [0] },
  ])('$name that is none', ({ name, bad }) => {
    for (const given of bad)
      expect(refusal(() => cacheOf({ [name]: given }))).toMatch(new RegExp(`^${name}:? `))
  })

  test.each([
    {
      given: { memory: { maxEntries: 0 } },
      says: 'memory.maxEntries: expected a whole number greater than 0, got 0',
    },
    { given: { memory: { maxEntries: 1.5 } }, says: 'memory.maxEntries: ' },
    { given: { memory: { maxBytes: '64MB' } }, says: "did you mean '64MiB'" },
    { given: { memory: { ttl: 0 } }, says: 'memory.ttl: expected a duration greater than 0' },
    {
      given: { limit: { concurrency: 0 } },
      says: "limit.concurrency: expected a whole number greater than 0 or 'adaptive', got 0",
    },
    { given: { limit: { concurrency: NaN } }, says: 'limit.concurrency: ' },
    { given: { limit: { concurrency: '8' } }, says: 'limit.concurrency: ' },
    { given: { limit: { queue: Infinity } }, says: 'limit.queue: ' },
    { given: { earlyRefresh: { beta: -1 } }, says: 'earlyRefresh.beta: ' },
    { given: { earlyRefresh: { beta: NaN } }, says: 'earlyRefresh.beta: ' },
    {
      given: { earlyRefresh: { maxLead: 1.01 } },
      says: 'earlyRefresh.maxLead: expected a number from 0 to 1',
    },
    {
      given: { softTimeout: '1s' },
      says: 'softTimeout: has nothing to answer with unless staleIfError',
    },
    {
      given: { softTimeout: '30s', staleIfError: '1h' },
      says: 'softTimeout: expected less than loadTimeout (30000 ms), got 30000 ms',
    },
  ])('what is wrong inside or together: $says', ({ given, says }) => {
    expect(refusal(() => cacheOf(given))).toContain(says)
  })

  test.each([
    { given: { memory: {} }, says: 'products.memory: expected true or false, got an object' },
    { given: { store }, says: 'products.store: expected true or false' },
    { given: { ttl: NaN }, says: 'products.ttl: expected milliseconds' },
    { given: { isNegative: null }, says: 'products.isNegative: expected a function' },
    { given: { fallback: 5 }, says: 'products.fallback: expected a function' },
    { given: { errors: { toWire: String } }, says: 'products.errors: expected two functions' },
    {
      given: { errors: { toWir: String } },
      says: 'products.errors.toWir: unknown option, did you mean products.errors.toWire?',
    },
    { given: { softTimeout: '1s' }, says: 'products.softTimeout: has nothing' },
  ])('an entry’s option: $says', ({ given, says }) => {
    expect(refusal(() => entryOf({}, given))).toContain(says)
  })

  test.each([undefined, null, 5, 'shop', []])('options that are %s', (given) => {
    expect(refusal(() => resolveCacheOptions(given as never, environment))).toMatch(
      /^options: expected an object/,
    )
  })

  test('a missing ttl', () => {
    expect(refusal(() => resolveCacheOptions({ namespace: 'a' } as never, environment))).toMatch(
      /^ttl: expected/,
    )
  })
})

describe('an unknown name is refused with the nearest known one (T162)', () => {
  test.each([
    { given: { ttls: 5 }, says: 'ttls: unknown option, did you mean ttl?' },
    { given: { TTL: 5 }, says: 'TTL: unknown option, did you mean ttl?' },
    { given: { staleWhileRevalidte: 5 }, says: 'did you mean staleWhileRevalidate?' },
    { given: { stale_if_error: 5 }, says: 'did you mean staleIfError?' },
    {
      given: { memory: { maxEntrys: 5 } },
      says: 'memory.maxEntrys: unknown option, did you mean memory.maxEntries?',
    },
    { given: { limit: { concurency: 5 } }, says: 'did you mean limit.concurrency?' },
    { given: { earlyRefresh: { maxlead: 1 } }, says: 'did you mean earlyRefresh.maxLead?' },
    {
      given: { redisConnectionPool: 1 },
      says: 'redisConnectionPool: unknown option; known are namespace, store',
    },
    { given: { ['x'.repeat(1e5)]: 1 }, says: 'unknown option; known are' },
    { given: JSON.parse('{"__proto__": 1}'), says: '' },
    { given: { toString: 1 }, says: 'toString: unknown option' },
    { given: { fallback: () => 1 }, says: 'fallback: is an option of a definition' },
    { given: { tags: ['a'] }, says: 'tags: is an option of a definition' },
    { given: { precompute: {} }, says: 'precompute: expected true or false; what is made ahead' },
    { given: { compress: true }, says: "compress: expected false or an object such as '{ over:" },
    {
      given: { compress: { ovr: 5 } },
      says: 'compress.ovr: unknown option, did you mean compress.over',
    },
    { given: { compress: { over: -1 } }, says: 'compress.over: expected bytes or text' },
    {
      given: { compress: { algorithm: 'lzma' } },
      says: "compress.algorithm: expected one of 'gzip', 'brotli', 'zstd', 'lz4', 'snappy', got \"lzma\"",
    },
  ])('of the cache: $says', ({ given, says }) => {
    const options = Object.defineProperties({ ...minimal }, Object.getOwnPropertyDescriptors(given))
    expect(refusal(() => resolveCacheOptions(options as never, environment))).toContain(says)
  })

  test.each([
    { given: { storeTimeout: 5 }, says: 'trending.storeTimeout: is an option of createCache' },
    {
      given: { loader: load },
      says: 'trending.loader: unknown option, did you mean trending.load?',
    },
    { given: { tags: 'a' }, says: 'trending.tags: expected a list of texts' },
    { given: { tags: ['a', 7] }, says: 'trending.tags: expected texts only, got 7' },
    {
      given: { tags: Array.from({ length: 1_001 }, (_, n) => `t${n}`) },
      says: 'trending.tags: expected at most 1000 tags, got 1001',
    },
    { given: { loadMany: 'all' }, says: 'trending.loadMany: expected a function' },
    { given: { schema: {} }, says: 'trending.schema: expected a Standard Schema' },
    {
      given: { guard: {} },
      says: 'trending.guard: expected what memoryGuard() or redisGuard() give',
    },
    { given: { precompute: {} }, says: 'trending.precompute: expected either every or cron' },
  ])('of a definition: $says', ({ given, says }) => {
    expect(refusal(() => definitionOf({ name: 'trending', load, ...given }))).toContain(says)
  })
})

describe('a definition', () => {
  test('gives its loader, key, version and rules', () => {
    const { definition, rules } = definitionOf({
      name: 'trending',
      version: 2,
      key: (arg: { id: number }) => arg.id,
      load: (arg: unknown) => [arg],
      ttl: '10m',
    })
    expect(definition).toMatchObject({ name: 'trending', version: 2 })
    expect(definition.load('a', {} as never)).toEqual(['a'])
    expect(definition.key?.({ id: 5 })).toBe(5)
    expect(rules.ttlMs).toBe(600_000)
  })

  test('may be an object whose methods use this', () => {
    class Products {
      readonly name = 'products'
      readonly #rows = ['a']
      load(): string[] {
        return this.#rows
      }
    }
    expect(definitionOf(new Products()).definition.load('a', {} as never)).toEqual(['a'])
  })

  test.each([
    { given: undefined, says: 'definition: expected an object, got undefined' },
    { given: 'trending', says: 'definition: expected an object' },
    { given: { load }, says: 'name: expected text of 1 to 128 characters, got undefined' },
    { given: { name: '', load }, says: 'name: expected' },
    { given: { name: 'x'.repeat(129), load }, says: 'name: expected' },
    { given: { name: 5, load }, says: 'name: expected' },
    { given: { name: 'a' }, says: 'a.load: expected a function, got undefined' },
    { given: { name: 'a', load: 'x' }, says: 'a.load: expected a function' },
    { given: { name: 'a', load, key: 'id' }, says: 'a.key: expected a function' },
    { given: { name: 'a', load, version: NaN }, says: 'a.version: expected text or a number' },
    { given: { name: 'a', load, version: {} }, says: 'a.version: expected text or a number' },
  ])('without what it needs is refused: $says', ({ given, says }) => {
    expect(refusal(() => definitionOf(given))).toContain(says)
  })
})

describe('what a call brings', () => {
  const { signal } = new AbortController()
  test.each([
    { given: undefined, expected: undefined },
    { given: {}, expected: undefined },
    { given: { signal: undefined, timeout: undefined }, expected: undefined },
    { given: { signal }, expected: { signal, timeoutMs: undefined, maxAgeMs: undefined } },
    {
      given: { timeout: '1s' },
      expected: { signal: undefined, timeoutMs: 1_000, maxAgeMs: undefined },
    },
    { given: { maxAge: 0 }, expected: { signal: undefined, timeoutMs: undefined, maxAgeMs: 0 } },
  ])('$given is resolved', ({ given, expected }) => {
    expect(resolveCall(given as never)).toEqual(expected)
  })

  test.each([
    { given: 0, says: 'call: expected an object, got 0' },
    { given: null, says: 'call: expected an object, got null' },
    { given: { signal: {} }, says: 'call.signal: expected an AbortSignal, got an object' },
    { given: { signal: new AbortController() }, says: 'call.signal: expected an AbortSignal' },
    { given: { timeout: NaN }, says: 'call.timeout: expected' },
    { given: { maxAge: Infinity }, says: 'call.maxAge: expected' },
    { given: { maxage: 5 }, says: 'call.maxage: unknown option, did you mean call.maxAge?' },
  ])('$given is refused: $says', ({ given, says }) => {
    expect(refusal(() => resolveCall(given as never))).toContain(says)
  })
})
