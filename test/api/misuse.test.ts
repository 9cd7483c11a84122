// Wrong options at every door: refused at the earliest moment, with a sentence that names the option
// and says what to do; and nothing is half done after a refusal (T034, T042, T162).

import { afterEach, describe, expect, it } from 'vitest'
import { BreakwaterError, createCache, parseDuration } from '../../src/index.ts'
import type { Cache, CacheOptions, Resource } from '../../src/index.ts'
import { memoryStore } from '../../src/testing/index.ts'

const caches: Cache[] = []
const make = (more: object = {}): Cache => {
  const cache = createCache({ namespace: 'test', ttl: '60s', ...more } as CacheOptions)
  caches.push(cache)
  return cache
}
afterEach(async () => {
  await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 1 })))
})

const refused = (says: string): unknown =>
  expect.objectContaining({
    name: 'BreakwaterError',
    code: 'INVALID_OPTION',
    message: expect.stringContaining(says) as string,
  })

/** Durations that are none, and what an environment or a slip of the pen gives. */
const notDurations = [
  NaN, -1, -0.1, Infinity, -Infinity, Number('1e400'), '10', '', ' ', 's', '1w', '1M', '10S', '10 s', ' 10s', '10s ',
  '1e3s', '0x10s', '-5s', '+5s', '.5s', '5.s', '1_000ms', '1s30', '1m30s', '10s\n', '١s', null, true, {}, [],
  ['10s'], 5n, Symbol('s'), () => 1, new Date(), new Number(5), new String('10s'), `${'9'.repeat(400)}s`, 8.7e15,
] // prettier-ignore

describe('a duration that is none', () => {
  it.each(notDurations.map((value) => [String(value), value] as const))(
    '%s is refused at every door',
    async (_, value) => {
      for (const option of ['ttl', 'staleIfError', 'loadTimeout', 'storeTimeout', 'outageTtl']) {
        expect(() => make({ [option]: value })).toThrow(refused(`${option}: expected`))
      }
      expect(() => make({ memory: { ttl: value } })).toThrow(refused('memory.ttl: expected'))
      expect(() => make({ limit: { queue: value } })).toThrow(refused('limit.queue: expected'))
      const cache = make()
      const load = () => 1
      expect(() => cache.define({ name: 'a', load, ttl: value } as never)).toThrow(
        refused('a.ttl: expected'),
      )
      const item = cache.define<string, number>({ name: 'a', load })
      for (const given of [{ timeout: value }, { maxAge: value }] as object[]) {
        await expect(item.get('a', given)).rejects.toEqual(refused('call.'))
        await expect(item.getMany(['a'], given)).rejects.toEqual(refused('call.'))
        await expect(cache.getOrLoad('a', load, given)).rejects.toEqual(refused(': expected'))
      }
      await expect(item.set('a', 1, { ttl: value as never })).rejects.toEqual(refused('ttl'))
      await expect(cache.set('a', 1, { lease: value as never })).rejects.toEqual(refused('lease'))
      expect(() => parseDuration(value as string)).toThrow(refused('duration: expected'))
      expect(await item.peek('a')).toEqual({ state: 'missing' })
    },
  )

  it.each([
    ['-0', -0, 0],
    ['0', 0, 0],
    ['0s', '0s', 0],
    ['0.1', 0.1, 1],
    ['1.5s', '1.5s', 1_500],
    ['0.0001ms', '0.0001ms', 1],
    ['1.1s', '1.1s', 1_100],
    ['2 ** 31', 2 ** 31, 2 ** 31],
    ['2 ** 40', 2 ** 40, 2 ** 40],
    ['36500d', '36500d', 36_500 * 86_400_000],
    ['007s', '007s', 7_000],
  ] as const)('%s is one', async (_, given, expected) => {
    if (typeof given === 'string') expect(parseDuration(given)).toBe(expected)
    const found = await make({ ttl: given, jitter: 0 }).define<string, number>({ name: 'a', load: () => 1 }).lookup('a') // prettier-ignore
    if (!('storedAt' in found)) return expect.unreachable()
    expect(Math.abs(found.freshUntil - found.storedAt - expected)).toBeLessThan(0.5)
  })
})

describe('options', () => {
  it('with a null prototype, frozen, or from JSON are options like any other', async () => {
    const plain = { namespace: 'test', ttl: '60s' }
    for (const given of [
      Object.assign(Object.create(null) as object, plain),
      Object.freeze({ ...plain, memory: Object.freeze({ maxEntries: 5 }) }),
      JSON.parse(JSON.stringify(plain)) as object,
    ]) {
      const cache = createCache(given as CacheOptions)
      expect(await cache.getOrLoad('a', () => 1)).toBe(1)
      expect(await cache.getOrLoad('a', () => 2)).toBe(1)
    }
  })

  it('are read once: what the user changes afterwards changes nothing, and nothing of theirs changes', async () => {
    const memory = { maxEntries: 2 }
    const options = { namespace: 'test', ttl: '60s' as string | number, memory, jitter: 0 }
    const before = structuredClone(options)
    const cache = createCache(options as CacheOptions)
    const definition = { name: 'a', ttl: '30s' as string, load: (_: string) => 'first' }
    const item = cache.define(definition as never) as unknown as Resource<string, string>
    expect(options).toEqual(before)
    options.ttl = 0
    memory.maxEntries = 0
    definition.ttl = '0s'
    definition.load = () => 'second'
    const found = await item.lookup('a')
    expect(found).toMatchObject({ value: 'first' })
    if ('storedAt' in found) expect(Math.round(found.freshUntil - found.storedAt)).toBe(30_000)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'hit' })
  })

  it('of a getter that throws throw that, and make nothing', () => {
    const options = { namespace: 'test', ttl: '60s', get memory(): never { throw new Error('mine') } } // prettier-ignore
    expect(() => createCache(options as CacheOptions)).toThrow('mine')
  })

  it.each([
    [{ enabled: 'false' }, 'enabled: expected true or false, got "false"'],
    [{ jitter: '0.1' }, 'jitter: expected a number from 0 to 1, got "0.1"'],
    [{ ttl: '60' }, "ttl: expected a unit after the number, as in '60ms' or '60s', got '60'"],
    [
      { memory: { maxEntries: '1000' } },
      'memory.maxEntries: expected a whole number greater than 0',
    ],
    [{ memory: { maxEntries: 0 } }, 'memory.maxEntries: expected a whole number greater than 0'],
    [{ memory: { maxBytes: 0 } }, 'memory.maxBytes: expected bytes'],
    [{ maxBytes: '8MB' }, "did you mean '8MiB'"],
    [{ limit: { concurrency: '8' } }, 'limit.concurrency: expected'],
    [{ namespace: '' }, 'namespace: expected 1 to 64 characters'],
    [{ namespace: 'a b' }, 'namespace: expected'],
    [{ namespace: 'a\n' }, 'namespace: expected'],
    [{ namespace: 'app[1]*?' }, 'namespace: expected'],
    [{ namespace: 'a{b}' }, 'namespace: expected'],
    [{ namespace: 'x'.repeat(65) }, 'namespace: expected'],
    [{ store: memoryStore }, 'store: expected what redisStore({ client }) or memoryStore() give'],
    [{ store: null }, 'store: expected'],
    [{ clock: Date }, 'clock: expected'],
    [{ waitUntil: true }, 'waitUntil: expected a function'],
    [{ values: 'copy' }, "values: expected 'freeze', 'clone' or 'share', got \"copy\""],
    [{ codec: 'json' }, 'codec: expected what msgpack(), json(), defineCodec() and the like give'],
    [{ memory: null }, 'memory: expected an object, got null'],
    [{ limit: null }, 'limit: expected an object, got null'],
    [{ earlyRefresh: true }, 'earlyRefresh: expected false or an object'],
    [{ staleWhileRevalidat: 1 }, 'did you mean staleWhileRevalidate?'],
    [{ memory: { ttls: 1 } }, 'did you mean memory.ttl?'],
  ] as [object, string][])('that are %o are refused by createCache', (given, says) => {
    expect(() => make(given)).toThrow(refused(says))
  })
})

describe('a definition that is refused', () => {
  it('leaves its name free, and no counters', async () => {
    const cache = make()
    const load = () => 1
    expect(() => cache.define({ name: 'a', load, ttl: NaN })).toThrow(refused('a.ttl'))
    expect(() => cache.define({ name: 'a', load, tll: 5 } as never)).toThrow(refused('a.ttl?'))
    expect(() => cache.define({ name: 'a' } as never)).toThrow(refused('a.load'))
    expect(Object.keys(cache.counters())).toEqual([''])
    expect(await cache.define<string, number>({ name: 'a', load }).get('x')).toBe(1)
  })

  it('is one whose name is taken, also by a name that every object has', async () => {
    const cache = make()
    for (const name of ['a', '__proto__', 'constructor', 'toString', 'hasOwnProperty', ' ']) {
      const load = () => name
      const item = cache.define<string, string>({ name, load })
      expect(() => cache.define({ name, load })).toThrow(refused('name: expected one that is not'))
      expect(await item.get('x')).toBe(name)
      expect(cache.counters()[name]).toMatchObject({ loaded: 1 })
    }
    // Another cache is another world.
    expect(make().define({ name: 'a', load: () => 1 }).name).toBe('a')
  })
})

describe('a call that is refused', () => {
  it.each([null, 5, 'x', [], { timeuot: 1 }, { signal: {} }, { signal: 'abort' }, { ttl: '1s' }])(
    'for its options %o rejects with INVALID_OPTION and starts nothing',
    async (call) => {
      const cache = make()
      let loads = 0
      const item = cache.define<string, number>({ name: 'a', load: () => ++loads })
      await item.set('kept', 5)
      for (const key of ['missing', 'kept']) {
        for (const verb of ['get', 'lookup', 'refresh'] as const) {
          await expect(item[verb](key, call as never)).rejects.toEqual(refused('call'))
        }
        await expect(item.getMany([key], call as never)).rejects.toEqual(refused('call'))
        const [settled] = await item.getManySettled([key], call as never)
        expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'INVALID_OPTION' } })
      }
      expect(loads).toBe(0)
      expect(await item.peek('kept')).toMatchObject({ value: 5 })
    },
  )

  it.each([null, 5, 'x', [], { ttl: NaN }, { tll: 1 }, { storeTimeout: 5 }, { timeout: 5 }])(
    'for its set options %o rejects with INVALID_OPTION and changes nothing',
    async (options) => {
      const cache = make()
      const item = cache.define<string, number>({ name: 'a', load: () => 1 })
      await item.set('x', 5)
      await expect(item.set('x', 6, options as never)).rejects.toEqual(refused('a.set'))
      await expect(cache.set('x', 6, options as never)).rejects.toEqual(refused('set'))
      expect(await item.get('x')).toBe(5)
      expect(await cache.peek('x')).toEqual({ state: 'missing' })
    },
  )

  it.each([undefined, null, 'x', {}, Promise.resolve(1)])(
    'for a loader that is %o rejects with INVALID_OPTION',
    async (load) => {
      const got = make().getOrLoad('a', load as never)
      await expect(got).rejects.toEqual(refused('load: expected a function'))
    },
  )

  it('for one wrong address of many changes none of them', async () => {
    const cache = make()
    const item = cache.define<unknown, number>({ name: 'a', load: () => 1 })
    await item.set('x' as never, 5)
    for (const verb of ['invalidateMany', 'expireMany'] as const) {
      const of = item[verb] as (args: unknown[]) => Promise<void>
      await expect(of(['x', NaN])).rejects.toMatchObject({ code: 'INVALID_KEY' })
      expect(await item.peek('x' as never)).toMatchObject({ state: 'fresh', value: 5 })
    }
  })
})

describe('an error of ours', () => {
  it('has a code, a name, a sentence, and is an Error', () => {
    const error = new BreakwaterError('CLOSED', 'a sentence', { key: 'k', cause: 5 })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code: 'CLOSED', key: 'k', cause: 5, name: 'BreakwaterError' })
    expect('remote' in error).toBe(false)
    expect(String(error)).toBe('BreakwaterError: a sentence')
  })
})
