// One process that weighs one cache: fills it, holds every value in an array as well, weighs the
// heap, lets the cache go, weighs again. The difference is what the cache had beside the values:
// keys, entries, promises, the list of the LRU, its typed arrays.

import { setTimeout as sleep } from 'node:timers/promises'
import { caches, type Filled } from './caches.ts'

const [name = '', count = '', url = ''] = process.argv.slice(2)

process.on('disconnect', () => process.exit())
process.send?.(await weigh(Number(count)))

async function weigh(entries: number): Promise<{ perEntry: number } | { failed: string }> {
  const fill = caches.get(name)
  if (fill === undefined) return { failed: `no cache is called ${name}` }
  const values: unknown[] = []
  let filled: Filled | undefined = await fill({ entries, url })
  for (let id = 0; id < entries; id += 1) values.push(await filled.get(id))
  if (new Set(values).size !== entries) return { failed: 'two ids gave one object' }
  if ((await filled.get(3)) !== values[3]) return { failed: 'the cache does not hold its values' }

  const full = await heapBytes()
  const gone = new WeakRef(filled)
  await filled.close()
  filled = undefined
  const empty = await heapBytes()
  if (gone.deref() !== undefined) return { failed: 'the closed cache could not be collected' }
  if (values.length !== entries) return { failed: 'the values are gone' }
  return { perEntry: (full - empty) / entries }
}

/** After everything that can go has gone. Typed arrays live outside of `heapUsed`. */
async function heapBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('expected to be run with --expose-gc')
  for (let pass = 0; pass < 5; pass += 1) {
    globalThis.gc()
    await sleep(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
