// The examples of Fastify and Nest, as a reader starts them: without Redis and with it.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ask } from './support/raw-client.ts'

let redis: RedisServer
let child: ChildProcess | undefined
beforeAll(async () => {
  redis = await startRedisServer()
})
afterEach(() => void child?.kill('SIGKILL'))
afterAll(() => redis?.stop())

async function listening(name: string, env: Record<string, string>): Promise<number> {
  const file = fileURLToPath(new URL(`../../examples/${name}/main.mjs`, import.meta.url))
  const { REDIS_URL: _, ...rest } = process.env
  child = spawn(process.execPath, [file], {
    env: { ...rest, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, port] = /^listening on (\d+)$/.exec(line) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error(`${name}: ended without listening`)
}

describe.each(['fastify', 'nest'])('the example of %s', (name) => {
  it.each(['without Redis', 'with Redis'])('misses, hits, and ends on SIGTERM: %s', async (how) => {
    const port = await listening(name, how === 'with Redis' ? { REDIS_URL: redis.url } : {})
    const path = `/products/keyboard?shop=${name}`
    const first = await ask(port, path)
    expect(first).toMatchObject({ status: 200 })
    expect(first.field('cache-status')).toMatch(/fwd=miss/)
    const second = await ask(port, `${path}&utm_source=mail`)
    expect(second.field('cache-status')).toMatch(/;hit/)
    expect(second.body.toString()).toBe(first.body.toString())
    expect((await ask(port, '/me')).field('cache-status')).toBeUndefined()
    const ended = once(child!, 'exit')
    child!.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })
})
