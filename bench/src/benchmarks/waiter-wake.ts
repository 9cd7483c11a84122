// From the holder's loader returning its value to the promise of a waiter in another process, on
// one host: encode, publish, push, decode, and for a value over 1 KiB one GET. Beside it, in turn,
// a bare PUBLISH to a bare subscriber: what Redis and two event loops cost by themselves.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startRedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import type { Report, Row, Setting } from '../measure/report.ts'
import { percentile } from '../measure/statistics.ts'
import { write } from '../measure/units.ts'
import { pushChannel, type FromHolder, type ToHolder } from '../wake/messages.ts'
import { wakeCache } from '../wake/wake-cache.ts'

const loadMs = 30
const warmUp = 20
const budgetMs = 1

export async function waiterWake({
  quick,
  runs = quick ? 40 : 200,
  say,
}: Setting): Promise<Report> {
  const server = await startRedisServer()
  const holder = fork(fileURLToPath(new URL('../wake/holder.js', import.meta.url)))
  const subscriber = new Redis(server.url)
  let loads = 0
  const cache = wakeCache<unknown>(server.url, async () => {
    loads += 1
    return undefined
  })
  const took = { small: [] as number[], page: [] as number[], push: [] as number[] }
  try {
    await subscriber.subscribe(pushChannel)
    send(holder, { kind: 'start', url: server.url, loadMs })
    await reply(holder, 'ready')
    for (let trial = -warmUp; trial < runs; trial += 1) {
      if (trial % 50 === 0) say(`trial ${trial} of ${runs}`)
      const figures = {
        small: await wake(holder, cache, `small-${trial}`),
        page: await wake(holder, cache, `page-${trial}`),
        push: await push(holder, subscriber),
      }
      if (trial < 0) continue
      for (const kind of ['small', 'page', 'push'] as const) took[kind].push(figures[kind])
    }
    if (loads > 0) throw new Error(`the waiter loaded ${loads} times; it was to be woken instead`)
  } finally {
    holder.kill('SIGKILL')
    subscriber.disconnect()
    await cache.close()
    await server.stop()
  }

  const p50 = Math.max(percentile(took.small, 50), percentile(took.page, 50))
  return {
    tables: [
      {
        id: 'ms',
        title: `${runs} trials, from the holder's loader returning to the waiter's value`,
        columns: [
          { name: 'p50 ms', unit: 'ms' },
          { name: 'p95 ms', unit: 'ms' },
          { name: 'p99 ms', unit: 'ms' },
          { name: 'max ms', unit: 'ms' },
          { name: 'p50 of bare push', unit: 'ratio' },
        ],
        rows: [
          rowOf('value inside the push (40 bytes)', took.small, took.push),
          rowOf('value fetched after the push (5 KB)', took.page, took.push),
          rowOf('bare PUBLISH to a bare subscriber', took.push, took.push),
        ],
      },
    ],
    budgets: [
      {
        what: 'waiter wake-up, p50',
        budget: `≤ ${budgetMs} ms`,
        measured: `${write(p50, 'ms')} ms (the slower of both)`,
        met: p50 <= budgetMs,
      },
    ],
    notes: [],
  }
}

function rowOf(name: string, ms: readonly number[], push: readonly number[]): Row {
  const times = percentile(ms, 50) / percentile(push, 50)
  const figures = [...[50, 95, 99, 100].map((percent) => percentile(ms, percent)), times]
  return { name, figures: figures.map((it) => ({ median: it, min: it, max: it })) }
}

async function wake(
  holder: ChildProcess,
  cache: { get(key: string): Promise<unknown> },
  key: string,
): Promise<number> {
  const loading = reply(holder, 'loading')
  send(holder, { kind: 'load', key })
  await loading
  const loaded = reply(holder, 'loaded')
  await cache.get(key)
  const woken = process.hrtime.bigint()
  return milliseconds(BigInt((await loaded).at), woken)
}

async function push(holder: ChildProcess, subscriber: Redis): Promise<number> {
  const heard = once(subscriber, 'message').then(() => process.hrtime.bigint())
  const pushed = reply(holder, 'pushed')
  send(holder, { kind: 'push' })
  return milliseconds(BigInt((await pushed).at), await heard)
}

function milliseconds(from: bigint, to: bigint): number {
  return Number(to - from) / 1e6
}

function send(holder: ChildProcess, order: ToHolder): void {
  holder.send(order)
}

function reply<Kind extends FromHolder['kind']>(
  holder: ChildProcess,
  kind: Kind,
): Promise<Extract<FromHolder, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      holder.off('message', hear).off('exit', ended)
    }
    const fail = (reason: string): void => {
      stop()
      reject(new Error(`the holder ${reason}, expected '${kind}' of it`))
    }
    const timer = setTimeout(() => fail('said nothing for 10 s'), 10_000)
    const ended = (code: number | null): void => fail(`ended with ${code}`)
    const hear = (message: FromHolder): void => {
      if (message.kind !== kind) return
      stop()
      resolve(message as Extract<FromHolder, { kind: Kind }>)
    }
    holder.on('message', hear).once('exit', ended)
  })
}
