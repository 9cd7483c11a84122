// One process of a fleet: one cache, told by the coordinator when to read. Its loader counts itself
// in Redis. Ends with its parent.

import { setTimeout as sleep } from 'node:timers/promises'
import { connectIoredis } from '../contenders/connect.ts'
import type { Opened } from '../contenders/contender.ts'
import { contenderOf } from '../contenders/contenders.ts'
import { productPage } from '../measure/product.ts'
import { arrivals } from './arrivals.ts'
import { loadsKey, now, type Answers, type Order, type Reply } from './messages.ts'
import type { HerdOrder, TrafficOrder, WorkerSettings } from './messages.ts'

let cache: Opened | undefined

process.on('disconnect', () => process.exit())
// A background failure of a contender is a finding about it, not the end of its process.
process.on('unhandledRejection', (reason) => console.error('unhandled rejection:', reason))
process.on('message', (order: Order) => {
  obey(order).then(reply, (error: unknown) => {
    reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  })
})

function reply(message: Reply): void {
  process.send?.(message)
}

async function obey(order: Order): Promise<Reply> {
  switch (order.kind) {
    case 'start':
      cache = await start(order.settings)
      return { kind: 'done' }
    case 'read':
      await Promise.all(order.keys.map(async (key) => started().get(key)))
      return { kind: 'done' }
    case 'herd':
      return herd(order)
    case 'traffic':
      return traffic(order)
    case 'stop':
      await cache?.close()
      return { kind: 'done' }
  }
}

async function start(settings: WorkerSettings): Promise<Opened> {
  const counter = await connectIoredis('ioredis5', settings.url)
  return contenderOf(settings.contender).open({
    ...settings,
    maxEntries: 10_000,
    load: async (key) => {
      await counter.hincrby(loadsKey, String(key), 1)
      await sleep(settings.loadMs)
      return { ...productPage(7, 1), id: key }
    },
  })
}

async function herd({ key, callers, at }: HerdOrder): Promise<Answers> {
  const answers = collect()
  await sleep(Math.max(0, at - now()))
  await Promise.all(Array.from({ length: callers }, () => answers.ask(key, at)))
  return answers.given()
}

async function traffic(order: TrafficOrder): Promise<Answers> {
  const answers = collect()
  await sleep(Math.max(0, order.at - now()))
  await arrivals(order, answers.ask)
  return answers.given()
}

function collect() {
  const opened = started()
  const latencies: number[] = []
  const errors: string[] = []
  const cpu = process.cpuUsage()
  return {
    ask: async (key: string, intended: number): Promise<void> => {
      try {
        const page = await opened.get(key)
        if (page.id === key) latencies.push(now() - intended)
        else errors.push(`asked for ${key}, got ${page.id}`)
      } catch (error) {
        errors.push(String(error))
      }
    },
    given: (): Answers => {
      const { user, system } = process.cpuUsage(cpu)
      return { kind: 'answers', latencies, errors, cpuMs: (user + system) / 1_000 }
    },
  }
}

function started(): Opened {
  if (cache === undefined) throw new Error('expected an order to start first')
  return cache
}
