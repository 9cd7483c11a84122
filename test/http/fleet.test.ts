// Four processes, a thousand visitors at once: what the origin sees of them, and whose answer each gets.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'

const visitors = 1_000
const processes = 4

interface Got {
  readonly status: number
  readonly body: string
  readonly cacheStatus: string
}

describe('a thousand visitors of four processes', () => {
  let redis: RedisServer
  let apps: { readonly worker: WorkerProcess; readonly port: number }[]
  const agent = new Agent({ connections: visitors / processes })
  const asked: { readonly url: string; readonly visitor: string }[] = []
  let isHeld = false
  const held: (() => void)[] = []

  const reply = (res: ServerResponse, url: string, visitor: string): void => {
    const isPrivate = url.startsWith('/private')
    res.setHeader('cache-control', isPrivate ? 'private' : 's-maxage=60, stale-while-revalidate=60')
    res.end(isPrivate ? `for ${visitor}` : `page ${asked.length}`)
  }
  const origin = createServer((req, res) => {
    const visitor = String(req.headers['x-visitor'])
    asked.push({ url: req.url!, visitor })
    if (isHeld) held.push(() => reply(res, req.url!, visitor))
    else setTimeout(() => reply(res, req.url!, visitor), 300)
  })

  const wave = (path: string): Promise<Got[]> =>
    Promise.all(
      Array.from({ length: visitors }, async (_, n): Promise<Got> => {
        const { port } = apps[n % processes]!
        const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}${path}`, {
          dispatcher: agent,
          headers: { host: 'shop.test', 'x-visitor': `v${n}` },
        })
        return {
          status: statusCode,
          body: await body.text(),
          cacheStatus: String(headers['cache-status']),
        }
      }),
    )

  beforeAll(async () => {
    redis = await startRedisServer()
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', 2_000, resolve))
    const { port } = origin.address() as AddressInfo
    apps = await Promise.all(
      Array.from({ length: processes }, async () => {
        let own = 0
        const plan = {
          url: redis.url,
          origin: `http://127.0.0.1:${port}`,
          options: {},
          isCached: true,
        }
        const worker = await startWorker('http-app.mjs', plan, (told) => {
          if (told.type === 'ready') own = told['port'] as number
        })
        return { worker, port: own }
      }),
    )
  })
  beforeEach(() => {
    asked.length = 0
    isHeld = false
  })
  afterAll(async () => {
    await Promise.all(apps.map(({ worker }) => worker.stop()))
    await agent.close()
    origin.close()
    origin.closeAllConnections()
    await redis.stop()
  })

  it('T153 are one request to the origin where the URL is cold', async () => {
    const got = await wave('/cold')
    expect(asked).toHaveLength(1)
    expect(new Set(got.map(({ status, body }) => `${status} ${body}`))).toEqual(
      new Set(['200 page 1']),
    )
  })

  it('T153 are one request to the origin where it is stale, and none of them waits for it', async () => {
    await wave('/stale')
    asked.length = 0
    isHeld = true
    await apps[0]!.worker.call('expire', { at: 'http://shop.test/stale' })
    // Each process hears of it in its own time: whoever has not answers as before.
    await expect
      .poll(async () => {
        const got = await wave('/stale')
        for (const { body } of got) expect(body).toBe('page 1')
        return asked.length
      })
      .toBe(1)
    await wave('/stale')
    expect(asked).toHaveLength(1)
    for (const end of held.splice(0)) end()
  })

  it('T153 T135 get each their own where it is private, and nobody waits for another', async () => {
    const answered = async (got: Promise<Got[]>): Promise<void> => {
      for (const [n, { status, body }] of (await got).entries()) {
        expect([status, body]).toEqual([200, `for v${n}`])
      }
    }
    // All but the first, whose answer says whose it is, are at the origin before any is answered.
    const first = wave('/private')
    await expect.poll(() => asked.length).toBe(1)
    isHeld = true
    await expect.poll(() => held.length).toBe(visitors - 1)
    for (const end of held.splice(0)) end()
    await answered(first)

    const second = wave('/private')
    await expect.poll(() => held.length).toBe(visitors)
    for (const end of held.splice(0)) end()
    await answered(second)
    expect(asked).toHaveLength(2 * visitors)
  })
})
