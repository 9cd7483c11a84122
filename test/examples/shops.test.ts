// The example applications, each in processes of its own, as somebody would start them.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { ask, type Raw } from '../http/support/raw-client.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const running: ChildProcess[] = []

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedisServer()
})
afterAll(() => redis.stop())
afterEach(() => {
  for (const one of running.splice(0)) one.kill('SIGKILL')
})

interface Shop {
  /** A path that is not shared with another example. */
  read(): Promise<Raw>
  /** How it ended when it was asked to. */
  end(): Promise<unknown>
}

async function start(name: string, redisUrl?: string): Promise<Shop> {
  const { REDIS_URL: _, ...rest } = process.env
  const child = spawn(process.execPath, [join(root, 'examples', name, 'main.mjs')], {
    env: { ...rest, PORT: '0', ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`expected a line, got the end with ${code}`)))
  })
  const port = Number(/(\d+)\D*$/.exec(line)?.[1])
  return {
    read: () => ask(port, `/products/keyboard?of=${name}`, { host: 'shop.test' }),
    end: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}

it.each(['express', 'fastify', 'hono', 'koa', 'nest'])(
  'examples/%s answers from its cache, or from what another process has loaded, and ends on SIGTERM',
  async (name) => {
    const [alone, one, other] = await Promise.all([
      start(name),
      start(name, redis.url),
      start(name, redis.url),
    ])
    for (const shop of [alone, one]) {
      const [first, second] = [await shop.read(), await shop.read()]
      expect(first).toMatchObject({ status: 200 })
      expect(first.field('cache-status')).toMatch(/fwd=miss/)
      expect(second.field('cache-status')).toMatch(/hit/)
      expect(second.body.toString()).toBe(first.body.toString())
    }
    const kept = (await one.read()).body.toString()
    await expect.poll(async () => (await other.read()).body.toString()).toBe(kept)
    for (const shop of [alone, one, other]) expect(await shop.end()).toBe(0)
  },
)
