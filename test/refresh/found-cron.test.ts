// Found by a review of refreshes ahead: a zone that does not exist gave croner's own error, and a
// date, which croner takes for an expression, switched the check of the ttl off.

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'

it.each([
  [{ cron: '0 3 * * *', timezone: 'Mars/Olympus' }, 'in Mars/Olympus'],
  [{ cron: '0 3 * * *', timezone: '' }, "a name such as 'Europe/Berlin'"],
  [{ cron: '2131-01-01T00:00:00' }, 'comes again and again'],
  [{ cron: '0 0 0 1 1 * 2131' }, 'comes again and again'],
])('%j is refused with a sentence', async (given, text) => {
  const cache = createCache({ namespace: 'test', ttl: '30d' })
  const define = (): unknown =>
    cache.define({
      name: 'item',
      load: async (id: string) => id,
      precompute: { ...given, args: ['a'], onMiss: 'wait' },
    })
  expect(define).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(define).toThrow(text)
  await cache.close()
})
