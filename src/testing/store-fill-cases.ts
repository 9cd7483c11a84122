/** What gets in and what stays out: publish, touch, write, and the life of a frame. */
import assert from 'node:assert/strict'
import { frameLayout } from '../core/frame.ts'
import {
  asking,
  heard,
  nastyKeys,
  newerFrame,
  newFrame,
  newHeadBytes,
  newToken,
  put,
  sameBytes,
  take,
  timeOf,
  type StoreCase,
} from './store-rig.ts'

export const fillCases: readonly StoreCase[] = [
  {
    name: 'T108 T126 T127 any text is a key, and no two keys share an entry',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const { session } = mine
      const frames = new Map(nastyKeys.map((key) => [key, newFrame(newToken())]))
      for (const key of nastyKeys) assert.equal(await session.read(key), undefined)
      for (const [key, frame] of frames) await put(session, key, frame)
      for (const [key, frame] of frames) sameBytes(await other.session.read(key), frame)
      for (const key of nastyKeys) await take(session, key, { mode: 'force' })
      await session.invalidate(nastyKeys, newToken())
      for (const key of nastyKeys) {
        assert.equal(await session.read(key), undefined)
        await take(session, key)
      }
      const told = (await heard(other)).flatMap((message) =>
        message.type === 'invalidated' ? [message.key] : [],
      )
      assert.deepEqual(told, nastyKeys)
    },
  },
  {
    name: 'a published frame is read as it was, until its life ends',
    async run({ open, pass }) {
      const [mine, other] = [await open(), await open()]
      for (const [key, bytes] of [
        ['small', 0],
        ['big', 300_000],
      ] as const) {
        const token = await take(mine.session, key)
        const frame = newFrame(token, { bytes })
        assert.equal(await mine.session.publish({ key, token, frame, lifeMs: 800 }), 'ok')
        sameBytes(await other.session.read(key), frame)
        assert.equal((await other.session.acquire(asking(key, newToken()))).type, 'value')
      }
      await pass(820)
      assert.equal(await other.session.read('small'), undefined)
      assert.equal(await other.session.read('big'), undefined)
    },
  },
  {
    name: 'what goes in and out is a copy',
    async run({ open }) {
      const { session } = await open()
      const frame = newFrame(newToken())
      const before = new Uint8Array(frame)
      await put(session, 'k', frame)
      frame.fill(0)
      const got = await session.read('k')
      sameBytes(got, before)
      got!.fill(0)
      sameBytes(await session.read('k'), before)
    },
  },
  {
    name: 'publishing frees the lease, and publishing again is recognised',
    async run({ open }) {
      const { session } = await open()
      const token = await take(session, 'k')
      const fill = { key: 'k', token, frame: newFrame(token), lifeMs: 5_000 }
      assert.equal(await session.publish(fill), 'ok')
      assert.equal(await session.publish(fill), 'ok')
      const next = await take(session, 'k', { seen: token })
      assert.equal(await session.publish(fill), 'ok', 'also while another one loads')
      assert.equal(await session.renew({ key: 'k', token: next, leaseMs: 5_000 }), 'alone')
    },
  },
  {
    name: 'T061 who does not hold the lease cannot publish, least of all when it is gone',
    async run({ open, pass }) {
      const { session } = await open()
      const publish = (token: string) =>
        session.publish({ key: 'k', token, frame: newFrame(token), lifeMs: 5_000 })

      assert.equal(await publish(newToken()), 'fenced', 'never had it')
      const late = await take(session, 'k', { leaseMs: 40 })
      await pass(50)
      assert.equal(await publish(late), 'fenced', 'it ended')
      for (const end of ['invalidate', 'expire'] as const) {
        const token = await take(session, 'k')
        await session[end](['k'], newToken())
        assert.equal(await publish(token), 'fenced', end)
      }
      assert.equal(await session.read('k'), undefined)
      const token = await take(session, 'k')
      await put(session, 'k', newFrame(newToken()))
      assert.equal(await publish(token), 'fenced', 'a write came between')
    },
  },
  {
    name: 'not modified: a new head before the old body, recognised when repeated',
    async run({ open }) {
      const { session } = await open()
      const stamp = newToken()
      const old = newFrame(stamp, { tags: ['one', 'two'], bytes: 50 })
      await put(session, 'k', old)
      const token = await take(session, 'k', { seen: stamp })
      const head = newHeadBytes(token, { meta: new Uint8Array([1, 2, 3]) })
      const touch = { key: 'k', token, seen: stamp, head, lifeMs: 5_000 }
      assert.equal(await session.touch(touch), 'ok')
      const body = old.subarray(Buffer.from(old).readUInt32BE(frameLayout.headLengthAt))
      sameBytes(await session.read('k'), Buffer.concat([head, body]))
      assert.equal(await session.touch(touch), 'ok')
      await take(session, 'k', { seen: token })
    },
  },
  {
    name: 'not modified: what was seen is gone or another, so the holder may still publish',
    async run({ open }) {
      const { session } = await open()
      const seen = newToken()
      for (const there of [undefined, newFrame(newToken()), Buffer.from('foreign'), newerFrame()]) {
        await session.invalidate(['k'], newToken())
        if (there !== undefined) await put(session, 'k', there)
        const token = await take(session, 'k', { seen: 'unreadable' })
        const touch = { key: 'k', token, seen, head: newHeadBytes(token), lifeMs: 5_000 }
        assert.equal(await session.touch(touch), 'gone')
        assert.equal(await session.touch({ ...touch, token: newToken() }), 'fenced')
        assert.equal(await session.renew({ key: 'k', token, leaseMs: 5_000 }), 'alone')
      }
    },
  },
  {
    name: 'T115 a frame of a newer version stays, and its key is not wedged',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const newer = newerFrame()
      await put(mine.session, 'k', newer)
      for (const bytes of [10, 2_000]) {
        const token = await take(mine.session, 'k')
        await other.session.acquire(asking('k', newToken()))
        const frame = newFrame(token, { bytes })
        assert.equal(await mine.session.publish({ key: 'k', token, frame, lifeMs: 9_000 }), 'kept')
        const told = (await heard(other)).at(-1)!
        if (bytes === 10) sameBytes(told.type === 'published' ? told.frame : undefined, frame)
        else assert.deepEqual(told, { type: 'released', key: 'k', token, why: 'unstorable' })
      }
      const stamp = newToken()
      const write = { key: 'k', frame: newFrame(stamp), lifeMs: 9_000, stamp, notAfter: Infinity }
      assert.equal(await mine.session.write({ ...write, notAfter: 1e15 }), 'kept')
      sameBytes(await mine.session.read('k'), newer)
      await take(mine.session, 'k')
    },
  },
  {
    name: 'a write stores, fences the load that runs, and tells everyone',
    async run({ open, pass }) {
      const [mine, other] = [await open(), await open()]
      const token = await take(mine.session, 'k')
      const stamp = newToken()
      const frame = newFrame(stamp)
      const notAfter = (await timeOf(mine.session)) + 1_000
      const write = { key: 'k', frame, lifeMs: 200, stamp, notAfter }
      assert.equal(await other.session.write(write), 'ok')
      assert.equal(await mine.session.renew({ key: 'k', token, leaseMs: 5_000 }), 'lost')
      sameBytes(await mine.session.read('k'), frame)
      assert.deepEqual(await heard(mine), [{ type: 'written', key: 'k', id: stamp }])
      await pass(220)
      assert.equal(await mine.session.read('k'), undefined)
    },
  },
  {
    name: 'a write that comes too late changes nothing and tells nobody',
    async run({ open, pass }) {
      const opened = await open()
      const { session } = opened
      const token = await take(session, 'k')
      const notAfter = await timeOf(session)
      await pass(2)
      const stamp = newToken()
      const write = { key: 'k', frame: newFrame(stamp), lifeMs: 200, stamp, notAfter }
      assert.equal(await session.write(write), 'late')
      assert.equal(await session.read('k'), undefined)
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 5_000 }), 'alone')
      assert.deepEqual(await heard(opened), [])
    },
  },
]
