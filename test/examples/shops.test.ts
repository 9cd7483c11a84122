// The example applications, each in processes of its own, as somebody would start them.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
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

async function start(name: string, env: Record<string, string>): Promise<Shop> {
  const child = spawn(process.execPath, [join(root, 'examples', name, 'main.mjs')], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`expected a line, got the end with ${code}`)))
  })
  const port = Number(/localhost:(\d+)/.exec(line)?.[1])
  return {
    read: () => ask(port, `/products/${name}`, { host: 'shop.test' }),
    end: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}

describe.each(['koa', 'hono', 'express'])('examples/%s', (name) => {
  it('answers from its cache the second time, and ends on SIGTERM', async () => {
    const shop = await start(name, {})
    const [first, second] = [await shop.read(), await shop.read()]
    expect(first.field('cache-status')).toMatch(/fwd=miss/)
    expect(second.field('cache-status')).toMatch(/hit/)
    expect(JSON.parse(second.body.toString())).toMatchObject({ name, price: 49 })
    expect(second.body.toString()).toBe(first.body.toString())
    expect(await shop.end()).toBe(0)
  })

  it('answers from Redis what another process has loaded', async () => {
    const env = { REDIS_URL: redis.url }
    const [one, other] = await Promise.all([start(name, env), start(name, env)])
    const first = await one.read()
    await expect.poll(async () => (await other.read()).body.toString()).toBe(first.body.toString())
    expect([await one.end(), await other.end()]).toEqual([0, 0])
  })
})
