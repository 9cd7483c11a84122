// A remembered failure beside a mark of "uncacheable" (found by wide-model.test.ts).

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

it('a failure that is remembered is thrown as it is, also where a mark is kept', async () => {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '60s', clock, errorTtl: '10s' })
  let broken = false
  const item = cache.define({
    name: 'item',
    load: (_: void, ctx) => {
      if (broken) throw new Error('down')
      ctx.noStore()
      return 'value'
    },
  })
  expect(await item.get()).toBe('value')
  broken = true
  await expect(item.get()).rejects.toThrow('down')
  await expect(item.get()).rejects.toThrow('down') // remembered
})
