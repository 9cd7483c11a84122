// The memory store and Redis, given the same operations in the same order, give the same answers
// and say the same on the bus. Time is long compared with the run, so that nothing ends in it.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryStore } from '../../src/memory/memory-store.ts'
import type { StoreSession } from '../../src/ports.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { heard, newerFrame, newFrame, newHeadBytes } from '../../src/testing/store-rig.ts'
import { openSession } from '../support/open-session.ts'

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedisServer()
  client = new Redis(server.connection as { host: string; port: number })
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

const tokens = ['a', 'b', 'c'].map((letter) => letter.repeat(22))
const token = fc.constantFrom(...tokens)
const key = fc.constantFrom('k', 'k', '{} é %')
const maybe = fc.option(token, { nil: undefined })
const bytes = fc.constantFrom(3, 2_000)

/** Instants far off, so that the two stores' different clocks judge alike. */
const far = 1e14
const shapes = fc.constantFrom(
  { freshUntil: far },
  { freshUntil: far, staleIfErrorMs: 90_000 },
  { freshUntil: 1, staleWhileRevalidateMs: 90_000 },
  { freshUntil: 1, staleWhileRevalidateMs: 2 * far },
)

type Step = (session: StoreSession) => Promise<unknown>
const named = (name: string, step: Step) => Object.assign(step, { toString: () => name })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        key,
        token,
        leaseMs: fc.constant(60_000),
        seen: fc.oneof(maybe, fc.constant('unreadable')),
        waitedFor: maybe,
        mode: fc.constantFrom('take' as const, 'wait' as const, 'wait' as const, 'force' as const),
      })
      .map((request) => named(`acquire ${JSON.stringify(request)}`, (s) => s.acquire(request))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(key, token, bytes, shapes)
      .map(([k, t, size, shape]) =>
        named(`publish ${k} ${t} ${size}`, (s) =>
          s.publish({ key: k, token: t, frame: frameOf(t, size, shape), lifeMs: 80_000 }),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(key, token, token).map(([k, t, seen]) =>
      named(`touch ${k} ${t} ${seen}`, (s) =>
        s.touch({
          key: k,
          token: t,
          seen,
          head: newHeadBytes(t, { freshUntil: far }),
          lifeMs: 80_000,
        }),
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ key, token, leaseMs: fc.constant(60_000) })
      .map((request) => named(`renew ${JSON.stringify(request)}`, (s) => s.renew(request))),
  },
  fc
    .record({ key, token, why: fc.constantFrom('abort' as const, 'private' as const) })
    .map((request) => named(`release ${JSON.stringify(request)}`, (s) => s.release(request))),
  {
    weight: 2,
    arbitrary: fc
      .record({ key, token, error: fc.constant('{"e":1}'), backoffMs: fc.constantFrom(0, 70_000) })
      .map((request) => named(`fail ${JSON.stringify(request)}`, (s) => s.fail(request))),
  },
  fc
    .tuple(fc.array(key, { maxLength: 3 }), token)
    .map(([keys, id]) => named(`invalidate ${keys.join()}`, (s) => s.invalidate(keys, id))),
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.array(key, { minLength: 1, maxLength: 2 }), token)
      .map(([keys, id]) => named(`expire ${keys.join()}`, (s) => s.expire(keys, id))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        key,
        token,
        shapes,
        fc.constantFrom(0, 1e15),
        fc.constantFrom('ours', 'newer', 'foreign'),
      )
      .map(([k, stamp, shape, notAfter, kind]) =>
        named(`write ${k} ${stamp} ${notAfter} ${kind}`, (s) => {
          const frame =
            kind === 'ours'
              ? frameOf(stamp, 3, shape)
              : kind === 'newer'
                ? newer
                : Buffer.from('not a frame at all, but long enough to look like one, perhaps')
          return s.write({ key: k, frame, lifeMs: 80_000, stamp, notAfter })
        }),
      ),
  },
  { weight: 2, arbitrary: key.map((k) => named(`read ${k}`, (s) => s.read(k))) },
)

const frames = new Map<string, Uint8Array>()
function frameOf(stamp: string, size: number, shape: object): Uint8Array {
  const name = `${stamp} ${size} ${JSON.stringify(shape)}`
  const frame = frames.get(name) ?? newFrame(stamp, { bytes: size, ...shape })
  frames.set(name, frame)
  return frame
}
const newer = newerFrame()

/** Milliseconds that are left differ by the run's own time; the instant of an expiry by the clock. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (name, one: unknown) => {
      if (one instanceof Uint8Array) return bytesOf(one)
      if (isJsonBuffer(one)) return bytesOf(Buffer.from(one.data))
      if (name === 'ms' || name === 'backoffMs') return Math.ceil((one as number) / 10_000)
      return one
    }),
  )
}

function bytesOf(frame: Uint8Array): string {
  const copy = Buffer.from(frame)
  if (copy.length > 104 && copy.readDoubleBE(12) > 1e5) copy.writeDoubleBE(1e5, 12)
  return copy.toString('hex')
}

function isJsonBuffer(value: unknown): value is { data: number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
}

it('the memory store answers as Redis does', { timeout: 60_000 }, async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (steps) => {
        run += 1
        const namespace = `run-${run}`
        const pair = [
          openSession(memoryStore(), { namespace, clock: wallClock }),
          openSession(redisStore({ client }), { namespace }),
        ]
        await Promise.all(pair.map(({ reaches }) => reaches('up')))
        const [memory, redis] = pair
        for (const one of steps) {
          const [expected, got] = [await one(redis!.session), await one(memory!.session)]
          expect({ step: String(one), answer: comparable(got) }).toEqual({
            step: String(one),
            answer: comparable(expected),
          })
        }
        expect(comparable(await heard(memory!))).toEqual(comparable(await heard(redis!)))
        await Promise.all(pair.map(({ session }) => session.close()))
      },
    ),
    { numRuns: 200 },
  )
})

const wallClock = { now: () => Date.now(), random: () => 0, after: () => () => {} }
