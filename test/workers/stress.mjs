// One process of the stress: several caches on one Redis, whose leases are cut short and never
// renewed, so that many loads outlive them. Readers read, writers change the source and then
// invalidate or set. With `fence: false` a publish stores whatever comes: the test of the test.
// A version in the source only grows, so an answer is stale when its version is behind.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { answer } from './answering.mjs'

const {
  url,
  seed,
  fence,
  caches: size,
  keys,
  leaseMs,
  readers,
  loadMs,
} = JSON.parse(process.argv[2])
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

let state = seed >>> 0
/** mulberry32 */
function random() {
  state = (state + 0x6d2b79f5) >>> 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

const source = new Redis(url)
const client = new Redis(url)

/** What a cache without the fence would do: the load has ended, so its value is stored. */
const unfenced = `redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
  redis.call('DEL', KEYS[2])
  return 'ok'`

const passedOn = [
  'read',
  'readMany',
  'touch',
  'release',
  'fail',
  'invalidate',
  'expire',
  'write',
  'beat',
  'epochs',
  'bump',
  'isRefusal',
  'isReply',
  'received',
  'reconnect',
  'close',
]

function shortLeases(store) {
  return {
    ...store,
    open(scope) {
      const session = store.open(scope)
      const changed = Object.create(session, {
        ready: { get: () => session.ready },
        hasBus: { value: session.hasBus },
      })
      for (const name of passedOn) {
        changed[name] = (...args) => session[name](...args)
      }
      // Some are long enough for a machine with other work to publish in time now and then.
      changed.acquire = (request) =>
        session.acquire({ ...request, leaseMs: random() < 0.75 ? leaseMs : 15 * leaseMs })
      changed.renew = async () => 'alone'
      changed.publish = (request) => {
        if (fence) return session.publish(request)
        const at = `bw:${scope.namespace}:{${request.key}}`
        const { lifeMs, frame } = request
        return client.evalBuffer(unfenced, 2, `${at}:v`, `${at}:l`, lifeMs, frame).then(String)
      }
      return changed
    },
  }
}

const caches = Array.from({ length: size }, () =>
  createCache({ namespace: 'stress', ttl: '10m', store: shortLeases(redisStore({ client })) }),
)
const items = caches.map((cache) =>
  cache.define({
    name: 'item',
    load: async (key) => {
      const version = Number(await source.get(`source:${key}`))
      // Some end within their lease.
      await sleep(random() < 0.3 ? random() * 4 : random() * loadMs)
      return { version, padding: 'x'.repeat(key % 2 === 0 ? 8 : 2_000) }
    },
  }),
)

/** Per cache and key: what its own invalidations and sets have promised since they returned. */
const promised = items.map(() => new Map())
const found = { reads: 0, changes: 0, late: 0, errors: [] }
let running = false
let work = []

function failed(error) {
  // The store's own deadline may pass on a busy machine; nothing else may go wrong.
  if (error?.code !== 'STORE_UNAVAILABLE') found.errors.push(String(error?.stack ?? error))
}

async function read(at) {
  while (running) {
    const key = Math.floor(random() * keys)
    const floor = promised[at].get(key) ?? 0
    try {
      const { version } = await items[at].get(key)
      found.reads++
      if (version < floor) found.late++
    } catch (error) {
      failed(error)
    }
    await sleep(random() * 4)
  }
}

/** Each key has one writer, so that the last write in the store is also the last in the source. */
async function write(at, own) {
  for (let n = 0; running; n++) {
    const key = own[n % own.length]
    const version = await source.incr(`source:${key}`)
    try {
      if (random() < 0.3) await items[at].set(key, { version, padding: '' })
      else await items[at].invalidate(key)
      promised[at].set(key, version)
      found.changes++
    } catch (error) {
      failed(error)
      // The cache has promised nothing: to be said again until it is taken.
      n--
    }
    await sleep(random() * 6)
  }
}

const commands = {
  start({ own }) {
    running = true
    work = items.flatMap((_, at) => Array.from({ length: readers }, () => read(at)))
    items.forEach((_, at) => {
      const mine = own.filter((_key, n) => n % items.length === at)
      if (mine.length > 0) work.push(write(at, mine))
    })
  },
  async stop() {
    running = false
    await Promise.all(work)
    await Promise.all(caches.map((cache) => cache.idle()))
    return found
  },
  /** Versions that each cache would answer with, without loading: [cache][key]. */
  async held() {
    return Promise.all(
      items.map((item) =>
        Promise.all(
          Array.from({ length: keys }, async (_, key) => {
            const seen = await item.peek(key)
            return seen.state === 'missing' ? null : seen.value.version
          }),
        ),
      ),
    )
  },
  async answers() {
    return Promise.all(
      items.map((item) =>
        Promise.all(Array.from({ length: keys }, async (_, key) => (await item.get(key)).version)),
      ),
    )
  },
  counters: () => caches.map((cache) => cache.counters().item),
  health: () => caches.map((cache) => cache.health()),
  async close() {
    await Promise.all(caches.map((cache) => cache.close()))
    client.disconnect()
    source.disconnect()
    setImmediate(() => process.disconnect())
  },
}

answer(commands)
while (caches.some((cache) => cache.health().bus !== 'up')) await sleep(5)
process.send({ type: 'ready' })
