// One process of a herd: one cache, told by the coordinator when to read. Ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { productPage } from '../measure/product.ts'
import type { Contender } from './contender.ts'
import { contenders } from './contenders.ts'
import { loadsKey, type Order, type Reply, type WorkerSettings } from './messages.ts'

const reply = (message: Reply): void => void process.send?.(message)

let contender: Contender | undefined
let counter: Redis | undefined

process.on('disconnect', () => process.exit())
process.on('message', (order: Order) => {
  obey(order).then(reply, (error: unknown) => {
    reply({ kind: 'failed', reason: error instanceof Error ? (error.stack ?? '') : String(error) })
  })
})

async function obey(order: Order): Promise<Reply> {
  switch (order.kind) {
    case 'start':
      contender = await start(order.settings)
      return { kind: 'done' }
    case 'read':
      await started().get(order.key)
      return { kind: 'done' }
    case 'herd':
      return herd(order)
    case 'stop':
      await contender?.close()
      counter?.disconnect()
      return { kind: 'done' }
  }
}

async function start(settings: WorkerSettings): Promise<Contender> {
  const make = contenders.get(settings.contender)
  if (make === undefined) throw new Error(`no contender is called ${settings.contender}`)
  const counting = new Redis(settings.url)
  counter = counting
  await counting.ping()
  return make({
    ...settings,
    load: async (key) => {
      await counting.incr(loadsKey(key))
      await sleep(settings.loadMs)
      return productPage(7, 2)
    },
  })
}

async function herd({ key, callers, at }: Extract<Order, { kind: 'herd' }>): Promise<Reply> {
  const cache = started()
  const latencies: number[] = []
  const errors: string[] = []
  await sleep(Math.max(0, at - Date.now()))
  const began = performance.now()
  await Promise.all(
    Array.from({ length: callers }, () =>
      cache.get(key).then(
        (page) => {
          if (page?.id === 7) latencies.push(performance.now() - began)
          else errors.push(`got ${JSON.stringify(page)}`)
        },
        (error: unknown) => errors.push(String(error)),
      ),
    ),
  )
  return { kind: 'herd', latencies, errors }
}

function started(): Contender {
  if (contender === undefined) throw new Error('expected an order to start first')
  return contender
}
