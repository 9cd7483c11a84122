/** So many loads per second in the whole fleet: one bucket for all sessions of a namespace. */
import assert from 'node:assert/strict'
import type { StoreCase } from './store-rig.ts'

export const tokenCases: readonly StoreCase[] = [
  {
    name: 'tokens: a tenth of a second is there at once, for all together, and then the rate',
    async run({ open, pass }) {
      const [a, b] = [(await open()).session, (await open()).session]
      const one = await a.tokens({ wanted: 7, perSecond: 100 })
      assert.deepEqual(one, { granted: 7, waitMs: 0 })
      const other = await b.tokens({ wanted: 50, perSecond: 100 })
      // A real server's time goes on meanwhile.
      assert.ok(other.granted >= 3 && other.granted <= 6, JSON.stringify(other))
      assert.ok(other.waitMs > 0 && other.waitMs <= 10, JSON.stringify(other))
      await pass(50)
      const later = await a.tokens({ wanted: 50, perSecond: 100 })
      assert.ok(later.granted >= 4 && later.granted <= 10, JSON.stringify(later))
    },
  },
  {
    name: 'tokens: less than one per second, and another namespace has its own',
    async run({ open }) {
      const { session } = await open()
      assert.deepEqual(await session.tokens({ wanted: 2, perSecond: 0.5 }), {
        granted: 1,
        waitMs: 2_000,
      })
      const { granted, waitMs } = await session.tokens({ wanted: 1, perSecond: 0.5 })
      assert.equal(granted, 0)
      assert.ok(waitMs > 1_000 && waitMs <= 2_000, String(waitMs))
      const other = await open('another')
      assert.equal((await other.session.tokens({ wanted: 1, perSecond: 0.5 })).granted, 1)
    },
  },
]
