/** Loads that failed: who is told, who must hold back, who may try. */
import assert from 'node:assert/strict'
import {
  asking,
  heard,
  newFrame,
  newToken,
  put,
  sameBytes,
  take,
  type StoreCase,
} from './store-rig.ts'

export const failureCases: readonly StoreCase[] = [
  {
    name: 'an override passes a back-off, and nobody who loads',
    async run({ open }) {
      const { session } = await open()
      const failed = await take(session, 'k')
      await session.fail({ key: 'k', token: failed, error: '{}', backoffMs: 5_000 })
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'backoff')
      const override = { mode: 'override' } as const
      const [mine, other] = [newToken(), newToken()]
      assert.equal((await session.acquire(asking('k', mine, override))).type, 'lease')
      const denied = await session.acquire(asking('k', other, override))
      assert.ok(denied.type === 'wait' && denied.token === mine, denied.type)
      assert.equal(await session.renew({ key: 'k', token: mine, leaseMs: 5_000 }), 'awaited')
    },
  },
  {
    name: 'T009 those who waited for a load that failed are told, with its error',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const error = JSON.stringify({ name: 'Error', message: 'a b\nc — é {}' })
      const token = await take(mine.session, 'k')
      await other.session.acquire(asking('k', newToken()))
      await mine.session.fail({ key: 'k', token, error, backoffMs: 300 })
      const told = { type: 'failed', key: 'k', token, error, backoffMs: 300 }
      assert.deepEqual(await heard(other), [told])
      const answer = await other.session.acquire(asking('k', newToken(), { waitedFor: token }))
      assert.ok(answer.type === 'failed', answer.type)
      assert.equal(answer.error, error)
      assert.ok(answer.backoffMs > 0 && answer.backoffMs <= 300, `${answer.backoffMs}`)
    },
  },
  {
    name: 'nobody is told of a failure for which nobody waited',
    async run({ open }) {
      const opened = await open()
      const token = await take(opened.session, 'k')
      await opened.session.fail({ key: 'k', token, error: '{}', backoffMs: 0 })
      assert.deepEqual(await heard(opened), [])
    },
  },
  {
    name: 'without a back-off, whoever did not wait may load at once',
    async run({ open }) {
      const { session } = await open()
      const token = await take(session, 'k')
      await session.fail({ key: 'k', token, error: '{}', backoffMs: 0 })
      await take(session, 'k', { waitedFor: newToken() })
    },
  },
  {
    name: 'while a back-off runs nobody may load, except by force',
    async run({ open, pass }) {
      const { session } = await open()
      const token = await take(session, 'k')
      await session.fail({ key: 'k', token, error: '{"a":1}', backoffMs: 400 })
      for (const mode of ['take', 'wait'] as const) {
        const answer = await session.acquire(asking('k', newToken(), { mode }))
        assert.ok(answer.type === 'backoff', answer.type)
        assert.equal(answer.error, '{"a":1}')
        assert.ok(answer.ms > 0 && answer.ms <= 400, `${answer.ms}`)
      }
      const forced = await take(session, 'k', { mode: 'force' })
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'wait')
      await session.fail({ key: 'k', token: forced, error: '{}', backoffMs: 300 })
      assert.equal((await session.acquire(asking('k', newToken()))).type, 'backoff')
      await pass(320)
      await take(session, 'k')
    },
  },
  {
    name: 'a failure is still collected by those who waited when somebody else loads by now',
    async run({ open, pass }) {
      const { session } = await open()
      const failed = await take(session, 'k')
      await session.fail({ key: 'k', token: failed, error: '{"n":1}', backoffMs: 0 })
      const next = await take(session, 'k')
      const late = asking('k', newToken(), { waitedFor: failed })
      const expected = { type: 'failed', error: '{"n":1}', backoffMs: 0 }
      assert.deepEqual(await session.acquire(late), expected)
      const newcomer = await session.acquire(asking('k', newToken()))
      assert.ok(newcomer.type === 'wait' && newcomer.token === next)
      assert.deepEqual(await session.acquire(late), expected, 'noting a waiter keeps the failure')
      assert.equal(await session.renew({ key: 'k', token: next, leaseMs: 5_000 }), 'awaited')
      assert.deepEqual(await session.acquire(late), expected, 'renewing keeps it')
      await pass(1_050)
      const over = await session.acquire(late)
      assert.ok(over.type === 'wait' && over.token === next)
    },
  },
  {
    name: 'a value that came meanwhile goes before the failure',
    async run({ open }) {
      const { session } = await open()
      const failed = await take(session, 'k')
      await session.fail({ key: 'k', token: failed, error: '{}', backoffMs: 0 })
      const next = await take(session, 'k')
      const fill = { key: 'k', token: next, frame: newFrame(next), lifeMs: 5_000 }
      assert.equal(await session.publish(fill), 'ok')
      const answer = await session.acquire(asking('k', newToken(), { waitedFor: failed }))
      assert.equal(answer.type, 'value')
    },
  },
  {
    name: 'a failure leaves the frame as it is',
    async run({ open, pass }) {
      const { session } = await open()
      const stamp = newToken()
      const frame = newFrame(stamp)
      await put(session, 'k', frame, 300)
      const token = await take(session, 'k', { seen: stamp })
      await session.fail({ key: 'k', token, error: '{}', backoffMs: 2_000 })
      sameBytes(await session.read('k'), frame)
      await pass(320)
      assert.equal(await session.read('k'), undefined)
    },
  },
  {
    name: 'an invalidation ends a back-off',
    async run({ open }) {
      const { session } = await open()
      const token = await take(session, 'k')
      await session.fail({ key: 'k', token, error: '{}', backoffMs: 5_000 })
      await session.invalidate(['k'], newToken())
      await take(session, 'k')
    },
  },
]
