import { expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'

test.each(['share', 'freeze'] as const)(
  'who is given copies gets one of his own, also of what was set to be given by %s',
  async (values) => {
    const cache = createCache({ namespace: 'mixed', ttl: '60s', values: 'clone' })
    const item = cache.define({
      name: 'item',
      load: async (): Promise<{ list: number[] }> => ({ list: [] }),
    })
    await item.set(undefined, { list: [] }, { values })
    const [one, other] = [await item.get(), await item.get()]
    one.list.push(1)
    expect(other).toEqual({ list: [] })
    expect(await item.get()).toEqual({ list: [] })
    await cache.close()
  },
)
