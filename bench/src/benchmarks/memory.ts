// What an entry in memory weighs beyond its value: 10,000 entries, weighed in a process of its own
// with and without the cache, while an array holds the same values all along.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startRedisServer } from '@breakwater/rig'
import { caches } from '../heap/caches.ts'
import type { Report, Setting } from '../measure/report.ts'
import { spread, writeSpread } from '../measure/statistics.ts'

const entries = 10_000
const budgetBytes = 500
const scale = fileURLToPath(new URL('../heap/weigh.js', import.meta.url))

export async function memory({ runs = 3, say }: Setting): Promise<Report> {
  const weighed = new Map([...caches.keys()].map((name) => [name, [] as number[]]))
  for (let run = 0; run < runs; run += 1) {
    for (const [name, bytes] of weighed) {
      say(`run ${run + 1} of ${runs}: ${name}`)
      // A server for each, so that nothing is there from before.
      const server = await startRedisServer()
      try {
        bytes.push(await weigh(name, server.url))
      } finally {
        await server.stop()
      }
    }
  }
  const ours = [...weighed].filter(([name]) => name.startsWith('breakwater'))
  return {
    title: 'memory',
    tables: [
      {
        title: `bytes per entry beyond its value, ${entries} entries, median (min … max) of ${runs}`,
        columns: ['cache', 'bytes'],
        rows: [...weighed].map(([name, bytes]) => [name, writeSpread(spread(bytes), 0)]),
      },
    ],
    budgets: ours.map(([name, bytes]) => ({
      what: name,
      budget: `≤ ${budgetBytes} bytes`,
      measured: writeSpread(spread(bytes), 0),
      met: spread(bytes).median <= budgetBytes,
    })),
    notes: [],
  }
}

async function weigh(name: string, url: string): Promise<number> {
  const child = fork(scale, [name, String(entries), url], { execArgv: ['--expose-gc'] })
  try {
    const ended = once(child, 'exit').then(([code]) => ({
      failed: `the process ended with ${code}`,
    }))
    const heard = once(child, 'message').then(
      ([it]) => it as { perEntry: number } | { failed: string },
    )
    const result = await Promise.race([heard, ended])
    if ('failed' in result) throw new Error(`${name}: ${result.failed}`)
    return result.perEntry
  } finally {
    child.kill('SIGKILL')
  }
}
