// The process that loads: notes the instant at which its loader returns. Ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { productPage } from '../measure/product.ts'
import { pushChannel, type FromHolder, type ToHolder } from './messages.ts'
import { wakeCache } from './wake-cache.ts'

const tell = (message: FromHolder): void => void process.send?.(message)
const quietMs = 15

let cache: ReturnType<typeof wakeCache<unknown>> | undefined
let publisher: Redis | undefined

process.on('disconnect', () => process.exit())
process.on('message', (order: ToHolder) => {
  obey(order).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})

async function obey(order: ToHolder): Promise<void> {
  switch (order.kind) {
    case 'start': {
      publisher = new Redis(order.url)
      await publisher.ping()
      cache = wakeCache(order.url, async (key) => {
        tell({ kind: 'loading', key })
        await sleep(order.loadMs)
        const value = key.startsWith('small')
          ? { id: 7, title: 'a small value' }
          : productPage(7, 5)
        const at = process.hrtime.bigint()
        setTimeout(() => tell({ kind: 'loaded', at: String(at) }), quietMs)
        return value
      })
      tell({ kind: 'ready' })
      return
    }
    case 'load':
      await cache?.get(order.key)
      return
    case 'push': {
      const at = process.hrtime.bigint()
      await publisher?.publish(pushChannel, 'x'.repeat(300))
      setTimeout(() => tell({ kind: 'pushed', at: String(at) }), quietMs)
      return
    }
  }
}
