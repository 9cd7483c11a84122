// One of the processes: makes its share of the values ahead, and asks for them at an even pace.

import { createCache } from 'breakwater'
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from '../fleet/messages.ts'
import { storeBy } from '../outage/connect.ts'
import { keys, loadMs, periodMs, perSecond, ttlMs, type Answer, type Told } from './plan.ts'

const port = Number(process.argv[2])
process.on('disconnect', () => process.exit())
const tell = (told: Told): void => void process.send?.(told)

const { store } = await storeBy('ioredis6', port)
const cache = createCache({ namespace: 'ahead', ttl: ttlMs, store })
const item = cache.define({
  name: 'item',
  async load(key: string, { reason }) {
    tell({ kind: 'load', load: { key, at: now(), reason } })
    await sleep(loadMs)
    return { key, at: now() }
  },
  precompute: { every: periodMs, args: keys, onMiss: 'wait' },
})

/** From the instant at which it was intended: a process that is late pays for it. */
async function ask(key: string, at: number): Promise<Answer> {
  let outcome: string
  try {
    outcome = (await item.lookup(key)).outcome
  } catch (error) {
    outcome = `error: ${error instanceof Error ? error.message : String(error)}`
  }
  return { at, ms: now() - at, outcome }
}

await item.get(keys[0]!)
tell({ kind: 'ready' })
let answers: Answer[] = []
setInterval(() => {
  tell({ kind: 'answers', answers })
  answers = []
}, 250)
let due = now()
for (let n = 0; ; n++) {
  due += 1_000 / perSecond
  if (due > now()) await sleep(due - now())
  void ask(keys[n % keys.length]!, due).then((answer) => answers.push(answer))
}
