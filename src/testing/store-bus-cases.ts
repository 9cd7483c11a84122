/** Ending an entry, and what processes tell each other. */
import assert from 'node:assert/strict'
import { frameLayout } from '../core/frame.ts'
import type { StoreSession } from '../ports.ts'
import {
  asking,
  heard,
  newFrame,
  newHeadBytes,
  newToken,
  put,
  sameBytes,
  take,
  timeOf,
  type OpenedSession,
  type StoreCase,
} from './store-rig.ts'

async function expiredAt(session: StoreSession, key: string): Promise<number> {
  const frame = await session.read(key)
  assert.ok(frame !== undefined, 'expected the frame to be there')
  return Buffer.from(frame).readDoubleBE(frameLayout.expiredAtAt)
}

export const busCases: readonly StoreCase[] = [
  {
    name: 'a small value comes with the message, a big one is to be read',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const overhead = newFrame(newToken(), { bytes: 0 }).length
      for (const [size, inside] of [
        [0, true],
        [1_024 - overhead, true],
        [1_025 - overhead, false],
        [50_000, false],
      ] as const) {
        const key = `k${size}`
        const token = await take(mine.session, key)
        await other.session.acquire(asking(key, newToken()))
        const frame = newFrame(token, { bytes: size })
        await mine.session.publish({ key, token, frame, lifeMs: 5_000 })
        const told = (await heard(other)).at(-1)!
        assert.ok(told.type === 'published' && told.key === key && told.token === token)
        if (inside) sameBytes(told.frame, frame)
        else assert.equal(told.frame, undefined)
      }
    },
  },
  {
    name: 'a publish for which nobody waits is no message',
    async run({ open, pass }) {
      const opened = await open()
      const { session } = opened
      const token = await take(session, 'k')
      await session.acquire(asking('k', newToken(), { mode: 'take' }))
      await session.publish({ key: 'k', token, frame: newFrame(token), lifeMs: 5_000 })
      // Who waited for a lease that ended long ago waits no more.
      await take(session, 'j', { leaseMs: 50 })
      await session.acquire(asking('j', newToken()))
      await pass(350)
      const next = await take(session, 'j')
      await session.publish({ key: 'j', token: next, frame: newFrame(next), lifeMs: 5_000 })
      assert.deepEqual(await heard(opened), [])
    },
  },
  {
    name: 'how a lease ends that announces it is told to everyone, whether anyone waits or not',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const { session } = mine
      const announced = { announces: true } as const
      const key = 'k'
      const published = await take(session, key, announced)
      assert.equal(await session.renew({ key, token: published, leaseMs: 5_000 }), 'awaited')
      const fill = { key, token: published, frame: newFrame(published), lifeMs: 5_000 }
      await session.publish(fill)
      const renewing = await take(session, key, { ...announced, seen: published })
      const head = newHeadBytes(renewing)
      await session.touch({ key, token: renewing, seen: published, head, lifeMs: 5_000 })
      const failing = await take(session, key, { ...announced, seen: 'unreadable' })
      await session.fail({ key, token: failing, error: '{}', backoffMs: 0 })
      const leaving = await take(session, key, { ...announced, seen: 'unreadable' })
      await session.release({ key, token: leaving, why: 'close' })
      const told = await heard(other)
      assert.deepEqual(
        told.map((message) => [message.type, 'token' in message && message.token]),
        [
          ['published', published],
          ['published', renewing],
          ['failed', failing],
          ['released', leaving],
        ],
      )
    },
  },
  {
    name: 'what is wanted is told to everyone, the sender too',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const id = newToken()
      await mine.session.want('k {a}:b', id)
      const expected = [{ type: 'wanted', key: 'k {a}:b', id }]
      assert.deepEqual(await heard(mine), expected)
      assert.deepEqual(await heard(other), expected)
    },
  },
  {
    name: 'a roll call is heard by everyone, and what they answer by the asker alone',
    async run({ open }) {
      const [asker, other] = [await open(), await open()]
      await asker.session.rollCall!()
      const [call] = await heard(other)
      assert.equal(call?.type, 'rollCall')
      assert.deepEqual(await heard(asker), [call])
      await other.session.present!(call.id, '{"é":1}')
      // Anyone may ask on the bus: nothing is told to who is none of us.
      for (const stranger of ['*', '', 'x:y', 'a'.repeat(14)]) {
        await other.session.present!(stranger, 'no')
      }
      const answers = (await heard(asker)).slice(1)
      assert.deepEqual(
        answers.map((message) => message.type === 'present' && message.text),
        ['{"é":1}'],
      )
      assert.deepEqual(await heard(other), [call])
    },
  },
  {
    name: 'an invalidation takes frame and lease together and tells everyone, the sender too',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const id = newToken()
      await put(mine.session, 'a', newFrame(newToken()))
      const token = await take(mine.session, 'b')
      await mine.session.invalidate(['a', 'b', 'never there'], id)
      await mine.session.invalidate([], id)
      assert.equal(await other.session.read('a'), undefined)
      assert.equal(await mine.session.renew({ key: 'b', token, leaseMs: 5_000 }), 'lost')
      const expected = ['a', 'b', 'never there'].map((key) => ({ type: 'invalidated', key, id }))
      // In a cluster something of before may still be on its way to either of them.
      for (const opened of [other, mine]) {
        const told = (await heard(opened)).filter((m) => 'id' in m && m.id === id)
        assert.deepEqual(told, expected)
      }
    },
  },
  {
    name: 'a thousand and more keys are invalidated in one call, in order',
    async run({ open }) {
      const opened = await open()
      const keys = Array.from({ length: 1_234 }, (_, n) => `k${n}`)
      await put(opened.session, 'k1233', newFrame(newToken()))
      await opened.session.invalidate(keys, newToken())
      assert.equal(await opened.session.read('k1233'), undefined)
      const told = (await heard(opened)).flatMap((m) => (m.type === 'invalidated' ? [m.key] : []))
      assert.deepEqual(told, keys)
    },
  },
  {
    name: 'expiring ends freshness now and the lease, and shortens the life to the windows',
    async run({ open, pass }) {
      const [mine, other] = [await open(), await open()]
      const { session } = mine
      const from = await timeOf(session)
      const shape = { freshUntil: from + 60_000, staleWhileRevalidateMs: 100, staleIfErrorMs: 800 }
      const frame = newFrame(newToken(), shape)
      await put(session, 'k', frame)
      const token = await take(session, 'k', { seen: 'unreadable' })
      const id = newToken()
      await session.expire(['k'], id)
      const at = await expiredAt(session, 'k')
      const until = await timeOf(session)
      assert.ok(at >= Math.floor(from) && at <= until, `${from} ≤ ${at} ≤ ${until}`)
      assert.deepEqual((await heard(other)).at(-1), { type: 'expired', key: 'k', id })
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 5_000 }), 'lost')
      const got = Buffer.from((await session.read('k'))!)
      got.writeDoubleBE(0, frameLayout.expiredAtAt)
      sameBytes(got, frame)
      await pass(400)
      await expiredAt(session, 'k')
      await pass(420)
      assert.equal(await session.read('k'), undefined)
    },
  },
  {
    name: 'the windows run from the first end of freshness, however often an entry is expired',
    async run({ open, pass }) {
      const { session } = await open()
      const now = Math.floor(await timeOf(session))
      const windows = { staleWhileRevalidateMs: 0, staleIfErrorMs: 50_000 }
      await put(session, 'stale', newFrame(newToken(), { ...windows, freshUntil: now - 10_000 }))
      await session.expire(['stale'], newToken())
      assert.equal(await expiredAt(session, 'stale'), now - 10_000)
      await put(session, 'fresh', newFrame(newToken(), { ...windows, freshUntil: now + 10_000 }))
      await session.expire(['fresh'], newToken())
      const first = await expiredAt(session, 'fresh')
      await pass(20)
      await session.expire(['fresh'], newToken())
      assert.equal(await expiredAt(session, 'fresh'), first)
    },
  },
  {
    name: 'expiring never makes a life longer',
    async run({ open, pass }) {
      const { session } = await open()
      const shape = { freshUntil: (await timeOf(session)) + 60_000, staleIfErrorMs: 60_000 }
      await put(session, 'k', newFrame(newToken(), shape), 300)
      await session.expire(['k'], newToken())
      await expiredAt(session, 'k')
      await pass(320)
      assert.equal(await session.read('k'), undefined)
    },
  },
  {
    name: 'expiring what has no window left, or cannot be read, is an invalidation',
    async run({ open }) {
      const opened = await open()
      const { session } = opened
      const now = await timeOf(session)
      const frames = {
        'no windows': newFrame(newToken(), { freshUntil: now + 9_000 }),
        over: newFrame(newToken(), { freshUntil: now - 9_000, staleIfErrorMs: 8_000 }),
        'not a number': newFrame(newToken(), { freshUntil: NaN, staleIfErrorMs: 8_000 }),
        'not a window': newFrame(newToken(), { freshUntil: now, staleIfErrorMs: NaN }),
        foreign: Buffer.from('some other program wrote this'),
      }
      for (const [key, frame] of Object.entries(frames)) await put(session, key, frame)
      const keys = [...Object.keys(frames), 'never there']
      const id = newToken()
      await session.expire(keys, id)
      for (const key of keys) assert.equal(await session.read(key), undefined, key)
      const expected = keys.map((key) => ({ type: 'invalidated', key, id }))
      const told = (await heard(opened)).filter((m) => 'id' in m && m.id === id)
      assert.deepEqual(told, expected)
    },
  },
  {
    name: 'everyone hears everything in the order in which the store did it',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const { session } = n % 2 === 0 ? a : b
          if (n % 3 === 0) await put(session, 'k', newFrame(newToken()))
          else await session.invalidate(['k'], newToken())
        }),
      )
      const [heardByA, heardByB] = [await heard(a), await heard(b)]
      assert.equal(heardByA.length, 100)
      assert.deepEqual(heardByA, heardByB)
      const last = heardByA.at(-1)!.type
      assert.equal((await a.session.read('k')) === undefined, last === 'invalidated')
    },
  },
  {
    name: 'T067 namespaces share no entry and no message',
    async run({ open }) {
      const [one, two] = [await open('one'), await open('two')]
      await put(one.session, 'k', newFrame(newToken()))
      assert.equal(await two.session.read('k'), undefined)
      await take(one.session, 'l')
      await take(two.session, 'l')
      await two.session.invalidate(['k'], newToken())
      assert.ok((await one.session.read('k')) !== undefined)
      assert.deepEqual(
        (await heard(one)).map(({ type }) => type),
        ['written'],
      )
      assert.deepEqual(
        (await heard(two)).map(({ type }) => type),
        ['invalidated'],
      )
    },
  },
  {
    name: 'a beat comes back to its sender alone, through every master, with the time of the store',
    async run({ open, pass }) {
      const [a, b] = [await open(), await open()]
      const first = await a.session.beat(1_000_001)
      await heard(a)
      await heard(b)
      const back = ({ messages }: OpenedSession) =>
        messages.flatMap((one) => (one.type === 'beat' && one.n === 1_000_001 ? one.through : []))
      const masters = first.sent.map(({ through }) => through)
      assert.deepEqual(back(a).toSorted(), masters.toSorted())
      assert.ok(masters.length > 0)
      assert.deepEqual(
        await Promise.all(first.sent.map(({ taken }) => taken)),
        masters.map(() => true),
      )
      assert.deepEqual(back(b), [])
      await pass(30)
      const second = await b.session.beat(0)
      assert.ok(second.time - first.time >= 29, `${second.time - first.time} ms passed`)
      assert.equal(second.server, first.server)
    },
  },
  {
    name: 'a closed session hears nothing more, and the others do',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      const id = newToken()
      await Promise.all([a.session.close(), a.session.close()])
      await a.session.close()
      const before = a.messages.length
      await b.session.invalidate(['k'], id)
      assert.deepEqual(await heard(b), [{ type: 'invalidated', key: 'k', id }])
      assert.equal(a.messages.length, before)
    },
  },
]
