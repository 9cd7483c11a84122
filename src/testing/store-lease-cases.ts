/** Who may load: granting, waiting, renewing, replacing and giving back a lease. */
import assert from 'node:assert/strict'
import {
  asking,
  heard,
  newerFrame,
  newFrame,
  newToken,
  put,
  sameBytes,
  take,
  type StoreCase,
} from './store-rig.ts'

export const leaseCases: readonly StoreCase[] = [
  {
    name: 'of many who ask at once, one gets the lease and the others learn whose it is',
    async run({ open }) {
      const sessions = [await open(), await open()]
      const asked = Array.from({ length: 20 }, (_, n) => {
        const token = newToken()
        const { session } = sessions[n % 2]!
        return session.acquire(asking('k', token)).then((answer) => ({ token, answer }))
      })
      const answers = await Promise.all(asked)
      const granted = answers.filter(({ answer }) => answer.type === 'lease')
      assert.equal(granted.length, 1)
      for (const { answer } of answers) {
        if (answer.type === 'lease') continue
        assert.equal(answer.type, 'wait')
        assert.equal(answer.token, granted[0]!.token)
        assert.ok(answer.ms > 0 && answer.ms <= 5_000, `${answer.ms} ms left of 5000`)
      }
    },
  },
  {
    name: 'a request that is repeated because its answer was lost gets its own lease again',
    async run({ open }) {
      const { session } = await open()
      const token = await take(session, 'k')
      for (const mode of ['take', 'wait', 'force'] as const) {
        const answer = await session.acquire(asking('k', token, { mode }))
        assert.deepEqual(answer, { type: 'lease' })
      }
    },
  },
  {
    name: 'T079 a lease ends by itself, and waiting for it does not make it longer',
    async run({ open, pass }) {
      const { session } = await open()
      await take(session, 'k', { leaseMs: 500 })
      // Longer than what is left of it says: timers and leases are rounded to a millisecond.
      await pass(205)
      const second = await session.acquire(asking('k', newToken()))
      assert.ok(second.type === 'wait' && second.ms <= 300, JSON.stringify(second))
      await pass(310)
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'lease')
    },
  },
  {
    name: 'renewing extends a lease, and tells whether anybody waits',
    async run({ open, pass }) {
      const { session } = await open()
      const token = await take(session, 'k', { leaseMs: 800 })
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 800 }), 'alone')
      await session.acquire(asking('k', newToken(), { mode: 'take' }))
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 800 }), 'alone')
      await session.acquire(asking('k', newToken(), { mode: 'wait' }))
      await pass(500)
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 5_000 }), 'awaited')
      await pass(600)
      assert.equal(await session.renew({ key: 'k', token, leaseMs: 5_000 }), 'alone')
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'wait')
    },
  },
  {
    name: 'T084 renewing what is lost says so, and takes nothing from the new holder',
    async run({ open, pass }) {
      const { session } = await open()
      const first = await take(session, 'k', { leaseMs: 50 })
      await pass(60)
      assert.equal(await session.renew({ key: 'k', token: first, leaseMs: 5_000 }), 'lost')
      const second = await take(session, 'k')
      assert.equal(await session.renew({ key: 'k', token: first, leaseMs: 5_000 }), 'lost')
      assert.equal(await session.renew({ key: 'k', token: second, leaseMs: 5_000 }), 'alone')
    },
  },
  {
    name: 'a forced lease replaces the holder, who can do nothing any more',
    async run({ open }) {
      const opened = await open()
      const { session } = opened
      const old = await take(session, 'k')
      await session.acquire(asking('k', newToken(), { mode: 'wait' }))
      const forcing = await take(session, 'k', { mode: 'force' })
      assert.equal(await session.renew({ key: 'k', token: old, leaseMs: 5_000 }), 'lost')
      await session.release({ key: 'k', token: old, why: 'abort' })
      await session.fail({ key: 'k', token: old, error: '{}', backoffMs: 1_000 })
      const frame = newFrame(old)
      const fill = { key: 'k', token: old, frame, lifeMs: 1_000 }
      assert.equal(await session.publish(fill), 'fenced')
      assert.deepEqual(await heard(opened), [])
      // Those who waited for the old holder wait still.
      assert.equal(await session.renew({ key: 'k', token: forcing, leaseMs: 5_000 }), 'awaited')
    },
  },
  {
    name: 'a lease that is given back is free at once, and those who wait are told why',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const token = await take(mine.session, 'k')
      await mine.session.release({ key: 'k', token, why: 'overload' })
      assert.deepEqual(await heard(other), [], 'nobody waited')
      for (const why of ['abort', 'private', 'unstorable', 'late', 'close', 'overload'] as const) {
        const again = await take(mine.session, 'k')
        await other.session.acquire(asking('k', newToken()))
        await mine.session.release({ key: 'k', token: again, why })
        const expected = { type: 'released', key: 'k', token: again, why }
        assert.deepEqual((await heard(other)).at(-1), expected)
      }
    },
  },
  {
    name: 'a frame that the asker has not seen is the answer, even while somebody loads',
    async run({ open }) {
      const { session } = await open()
      const stamp = newToken()
      const frame = newFrame(stamp)
      await put(session, 'k', frame)
      const unseen = await session.acquire(asking('k', newToken(), { seen: newToken() }))
      assert.ok(unseen.type === 'value')
      sameBytes(unseen.frame, frame)
      const none = await session.acquire(asking('k', newToken()))
      assert.equal(none.type, 'value')
      const holder = await take(session, 'k', { seen: stamp })
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'value')
      const seen = await session.acquire(asking('k', newToken(), { seen: stamp }))
      assert.ok(seen.type === 'wait' && seen.token === holder)
    },
  },
  {
    name: 'who could not read the frame, or forces, is never answered with it',
    async run({ open }) {
      const { session } = await open()
      await put(session, 'k', newFrame(newToken()))
      await take(session, 'k', { seen: 'unreadable' })
      await take(session, 'k', { mode: 'force' })
    },
  },
  {
    name: 'T118 bytes that are no frame of ours are no answer',
    async run({ open }) {
      const { session } = await open()
      const foreign = [new Uint8Array(), Buffer.from('b'), Buffer.from('hello world'.repeat(20))]
      for (const [n, bytes] of [...foreign, newerFrame()].entries()) {
        await put(session, `k${n}`, bytes)
        sameBytes(await session.read(`k${n}`), bytes)
        await take(session, `k${n}`)
      }
    },
  },
]
