// What each word that Redis may answer with means for a read, for a fill and for an explicit change,
// whether it counts for the breaker, and that nothing is left of it once it is over: the table of
// docs/errors.md, row by row, by every client at once. Those of a cluster: test/cluster/words.test.ts.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { libraries, type Library } from '../support/every-library.ts'
import { sleep } from '../support/open-session.ts'
import { well } from '../support/well.ts'

type Change = 'taken' | 'rejected'

interface Row {
  readonly word: string
  readonly begin: () => unknown
  readonly end: () => unknown
  /** Of what is there. */
  readonly reads: 'served' | 'loaded'
  /** Of what is not: published, loaded without a lease, or as if there were no Redis. */
  readonly fills: 'stored' | 'nolease' | 'store' | 'either'
  readonly set: Change
  readonly invalidate: Change
  readonly tags: Change
  /** `either`: a new connection is made, and what is under way on the old one is lost. */
  readonly breaker: 'closed' | 'open' | 'either'
  readonly as?: object
}

let folder: string
let server: RedisServer
let admin: Redis
/** A command that goes on until it is ended. */
let going: Promise<unknown>

const config = (name: string, value: string) => admin.config('SET', name, value)
const user = (...rules: string[]) => admin.call('ACL', 'SETUSER', ...rules)
const app = { username: 'app', password: 'pw' }

/** Cuts every connection but the admin's own and the rig's. */
async function killClients(): Promise<void> {
  const list = String(await admin.client('LIST')).split('\n')
  const self = String(await admin.client('ID'))
  for (const line of list) {
    const id = /\bid=(\d+)/.exec(line)?.[1]
    if (id === undefined || id === self || line.includes('cmd=monitor')) continue
    await admin.client('KILL', 'ID', id)
  }
}

/** Of which each takes 20 ms to load. */
async function fill(keys: number): Promise<void> {
  const text = 'x'.repeat(1_000)
  await admin.mset(Array.from({ length: keys }, (_, n) => [`filler ${n}`, text]).flat())
}

const refused = { set: 'rejected', invalidate: 'rejected', tags: 'rejected' } as const
const taken = { set: 'taken', invalidate: 'taken', tags: 'taken' } as const
/** Reads go on, nothing is written. */
const unwritable = { reads: 'served', fills: 'nolease', ...refused, breaker: 'closed' } as const
/** As good as no Redis. */
const notServing = { reads: 'loaded', fills: 'store', ...refused, breaker: 'open' } as const

const rows: readonly Row[] = [
  {
    word: 'OOM',
    begin: () => config('maxmemory', '1'),
    end: () => config('maxmemory', '0'),
    ...unwritable,
    invalidate: 'taken',
  },
  {
    word: 'READONLY',
    begin: () => admin.replicaof('127.0.0.1', '9'),
    end: () => admin.replicaof('NO', 'ONE'),
    ...unwritable,
    // The first has the client look for the master.
    fills: 'either',
    breaker: 'either',
  },
  {
    word: 'NOREPLICAS',
    begin: () => config('min-replicas-to-write', '1'),
    end: () => config('min-replicas-to-write', '0'),
    ...unwritable,
  },
  {
    word: 'NOPERM on writes',
    begin: () => user('app', '-@write'),
    end: () => user('app', '+@all'),
    ...unwritable,
  },
  {
    word: 'NOPERM on scripts',
    begin: () => user('app', '-eval', '-evalsha'),
    end: () => user('app', '+@all'),
    ...unwritable,
  },
  {
    word: 'NOPERM on GET',
    begin: () => user('app', '-get', '-mget'),
    end: () => user('app', '+@all'),
    reads: 'loaded',
    fills: 'store',
    ...taken,
    breaker: 'closed',
  },
  {
    word: 'NOPERM on our keys',
    begin: () => user('app', 'resetkeys', '~other:*'),
    end: () => user('app', 'resetkeys', '~*'),
    reads: 'loaded',
    fills: 'store',
    ...refused,
    breaker: 'closed',
  },
  {
    word: 'NOSCRIPT',
    begin: () => admin.script('FLUSH'),
    end: () => {},
    reads: 'served',
    fills: 'stored',
    ...taken,
    breaker: 'closed',
  },
  {
    word: 'MASTERDOWN',
    begin: async () => {
      await config('replica-serve-stale-data', 'no')
      await admin.replicaof('127.0.0.1', '9')
    },
    end: async () => {
      await admin.replicaof('NO', 'ONE')
      await config('replica-serve-stale-data', 'yes')
    },
    ...notServing,
  },
  {
    word: 'BUSY',
    begin: async () => {
      going = server.ask('EVAL', 'while true do end', 0).catch(() => {})
      await sleep(100)
    },
    end: async () => {
      await server.ask('SCRIPT', 'KILL')
      await going
    },
    ...notServing,
  },
  {
    word: 'LOADING',
    begin: async () => {
      await fill(500)
      going = server.ask('DEBUG', 'RELOAD')
      await expect.poll(() => server.ask('GET', 'k').catch(String)).toContain('LOADING')
    },
    end: async () => {
      await server.ask('CONFIG', 'SET', 'key-load-delay', '0')
      await going
    },
    ...notServing,
  },
  {
    word: 'WRONGPASS',
    begin: async () => {
      await user('app', 'resetpass', '>another')
      await killClients()
    },
    end: () => user('app', 'resetpass', '>pw'),
    ...notServing,
  },
  {
    word: 'NOAUTH',
    as: {},
    begin: async () => {
      await user('default', 'resetpass', '>another')
      await killClients()
    },
    end: () => user('default', 'nopass'),
    ...notServing,
  },
  {
    word: 'ERR max number of clients reached',
    begin: async () => {
      await config('maxclients', '1')
      await killClients()
    },
    end: () => config('maxclients', '1000'),
    ...notServing,
  },
  {
    // The last, since the server's folder is gone then.
    word: 'MISCONF',
    begin: async () => {
      await config('save', '3600 100000')
      await rm(folder, { recursive: true })
      await admin.bgsave()
      await expect.poll(() => admin.info('persistence')).toContain('rdb_last_bgsave_status:err')
    },
    end: () => config('save', ''),
    ...unwritable,
  },
]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breakwater-words-'))
  // A key takes 20 ms to load, and the server answers in between.
  const slowly = ['--key-load-delay', '20000', '--loading-process-events-interval-bytes', '1024']
  const debug = ['--enable-debug-command', 'yes', '--lua-time-limit', '50']
  const args = ['--dir', folder, '--dbfilename', 'words.rdb', ...debug, ...slowly]
  server = await startRedisServer({ args })
  admin = new Redis({ ...server.connection })
  admin.on('error', () => {})
})
beforeEach(async () => {
  await admin.flushall()
  await user('app', 'reset', 'on', '>pw', '~*', '&*', '+@all')
})
const caches: Cache[] = []
afterEach(async () => {
  await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
  for (const library of libraries) library.end()
})
afterAll(async () => {
  admin.disconnect()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Longer than any of this takes: it is the reply that decides, and not the time. */
const storeTimeout = 3_000

function make(library: Library, namespace: string, as: object = app): Cache {
  const store = library.store(server, as)
  const options = { namespace, ttl: '1h', memory: false, store, storeTimeout } as const
  const cache = createCache(options)
  caches.push(cache)
  return cache
}

/** What was told of it, and whether it came at once. */
async function told(work: Promise<unknown>): Promise<unknown> {
  const from = performance.now()
  const answer = await work.then(
    (value) => value ?? 'taken',
    (error: { code: string }) => (error.code === 'STORE_UNAVAILABLE' ? 'rejected' : error),
  )
  const ms = performance.now() - from
  return ms < storeTimeout / 2 ? answer : `${String(answer)} after ${Math.round(ms)} ms`
}

async function meets(cache: Cache, row: Row): Promise<() => Promise<void>> {
  await well(cache)
  const load = (key: string, how: object = {}) => cache.getOrLoad(key, () => `new ${key}`, how)
  for (const key of ['there', 'changed', 'expired']) await cache.set(key, `old ${key}`)
  await cache.set('tagged', 'old tagged', { tags: ['tag'] })
  const opened: string[] = []
  cache.on('breaker', ({ state }) => opened.push(state))
  const before = { ...cache.counters()['']! }

  return async () => {
    const hit = await told(load('there'))
    const changes = {
      set: await told(cache.set('written', 'written')),
      invalidate: await told(cache.invalidate('changed')),
      expire: await told(cache.expire('expired')),
      tags: await told(cache.invalidateTags('tag')),
    }
    const misses = []
    for (let n = 0; n < 6; n++) misses.push(await told(load(`missing ${n}`)))
    await cache.idle()
    expect({ hit, ...changes, misses, opened: opened.includes('open') }).toEqual({
      hit: row.reads === 'served' ? 'old there' : 'new there',
      set: row.set,
      invalidate: row.invalidate,
      expire: row.invalidate,
      tags: row.tags,
      misses: misses.map((_, n) => `new missing ${n}`),
      opened: row.breaker === 'either' ? expect.any(Boolean) : row.breaker === 'open',
    })
    const { unleasedNolease, unleasedStore, published } = cache.counters()['']!
    const counts = {
      nolease: unleasedNolease - before.unleasedNolease,
      store: unleasedStore - before.unleasedStore,
      stored: published - before.published,
    }
    const filled = 6 + (row.reads === 'loaded' ? 1 : 0)
    if (row.fills === 'either') expect(counts.nolease + counts.store).toBe(filled)
    else expect(counts).toEqual({ nolease: 0, store: 0, stored: 0, [row.fills]: filled })
    const isWell = row.set === 'taken' && row.breaker === 'closed'
    expect(cache.health().status).toBe(isWell ? 'ok' : 'degraded')
  }
}

/** Over: within 5 s nothing waits, what was refused was made up for, and fills are shared again. */
async function isOver(cache: Cache, row: Row, from: number): Promise<void> {
  await well(cache)
  expect(performance.now() - from).toBeLessThan(5_000)
  const load = (key: string) => cache.getOrLoad(key, () => `new ${key}`)
  expect(await load('changed')).toBe('new changed')
  expect(await load('expired')).toBe('new expired')
  expect(await load('tagged')).toBe('new tagged')
  expect(await load('written')).toBe(row.set === 'taken' ? 'written' : 'new written')
  await cache.idle()
  expect(await cache.getOrLoad('changed', () => 'not this')).toBe('new changed')
  expect(cache.health()).toMatchObject({ status: 'ok', store: 'up' })
}

it('LOADING after a restart: as if it were not there, and then what it has kept is served', async () => {
  // How long ioredis waits until it asks again whether the server is ready.
  const as = { ...app, maxLoadingRetryTime: 200 }
  const made = libraries.map((one, n) => make(one, `restart-${n}`, as))
  await well(...made)
  await Promise.all(made.map((cache) => cache.getOrLoad('there', () => 'old')))
  await Promise.all(made.map((cache) => cache.idle()))
  await fill(50)
  await admin.save()
  const restarted = server.restart()
  await expect.poll(() => server.ask('GET', 'k').catch(String)).toContain('LOADING')
  await byLibrary(
    made.map(async (cache) => {
      for (let n = 0; n < 6; n++) {
        expect(await told(cache.getOrLoad('there', () => n))).toBe(n)
        expect(await told(cache.set('k', n))).toBe('rejected')
      }
      expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
    }),
  )
  await restarted
  const from = performance.now()
  // Users are not in the file.
  await user('app', 'reset', 'on', '>pw', '~*', '&*', '+@all')
  await byLibrary(
    made.map(async (cache) => {
      await well(cache)
      expect(performance.now() - from).toBeLessThan(5_000)
      expect(await cache.getOrLoad('there', () => 'not this')).toBe('old')
    }),
  )
})

it('one error reply is no silence: no client takes the server for gone', async () => {
  const made = libraries.map((one, n) => make(one, `one-error-${n}`))
  await well(...made)
  const opened = made.map((cache) => {
    const events: unknown[] = []
    cache.on('breaker', (event) => events.push(event))
    return events
  })
  await config('replica-serve-stale-data', 'no')
  await admin.replicaof('127.0.0.1', '9')
  try {
    await byLibrary(
      made.map(async (cache) => {
        for (let n = 0; n < 2; n++) expect(await told(cache.getOrLoad('k', () => n))).toBe(n)
      }),
    )
    await sleep(100)
    expect(opened.flat()).toEqual([])
  } finally {
    await admin.replicaof('NO', 'ONE')
    await config('replica-serve-stale-data', 'yes')
  }
})

it.each(rows)('T094 T096 T097 $word, by every client', { timeout: 60_000 }, async (row) => {
  const made = libraries.map((one, n) => make(one, `words-${rows.indexOf(row)}-${n}`, row.as))
  const runs = await Promise.all(made.map((cache) => meets(cache, row)))
  try {
    await row.begin()
    await byLibrary(runs.map((run) => run()))
  } finally {
    await row.end()
  }
  const from = performance.now()
  await byLibrary(made.map((cache) => isOver(cache, row, from)))
})

/** All of them, and each failure by its client's name. */
async function byLibrary(work: readonly Promise<void>[]): Promise<void> {
  const named = work.map((one, n) =>
    one.catch((error: Error) => {
      error.message = `${libraries[n]!.library}: ${error.message}`
      throw error
    }),
  )
  await Promise.allSettled(named)
  await Promise.all(named)
}
