// A script that uses a cache by node-redis and then has nothing more to do: how it ends.

import { spawn } from 'node:child_process'
import type { Flavour } from './node-redis-clients.ts'

export interface End {
  readonly code: number | null
  readonly output: string
  /** From its last word to its end. */
  readonly lingeredMs: number
}

interface Script {
  readonly create: 'createClient' | 'createCluster' | 'createSentinel'
  readonly options: object
  /** The cache; the client is ended either way. */
  readonly close: boolean
}

export function runScript({ major, RESP }: Flavour, script: Script): Promise<End> {
  const { create, options, close } = script
  const program = `
    import { ${create} } from '${major === 5 ? 'redis5' : 'redis'}'
    import { createCache } from 'breakwater'
    import { redisStore } from 'breakwater/node-redis'
    const client = ${create}(${JSON.stringify({ RESP, ...options })})
    client.on('error', () => {})
    const store = redisStore({ client })
    const cache = createCache({ namespace: 'ends', ttl: '1h', connectTimeout: '500ms', store })
    const item = cache.define({ name: 'item', load: async (id) => 'value ' + id })
    for (let n = 0; n < 10; n++) await item.get(n)
    await item.set(1, 'x').catch(() => {})
    await item.invalidate(2).catch(() => {})
    if (${close}) await cache.close()
    if (!client.isOpen) throw new Error('closed')
    client.destroy()
    console.log('done')
  `
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program])
    let output = ''
    let doneAt = NaN
    const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
    const read = (bytes: Buffer): void => {
      output += bytes.toString()
      if (/^done$/m.test(output)) doneAt = performance.now()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output, lingeredMs: performance.now() - doneAt })
    })
  })
}
