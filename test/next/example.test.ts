// examples/next as people run it: built without Redis, then two instances of `next start` on one Redis.
// Each text names the process and the query that made it, so equal texts are one render.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from './instances.ts'
import { buildApp, startApp, type App } from './next-app.ts'

let redis: RedisServer
let apps: App[] = []
let said = ''

beforeAll(async () => {
  said = await buildApp()
  redis = await startRedisServer()
  apps = await Promise.all([startApp(redis.url), startApp(redis.url)])
}, 240_000)

afterAll(async () => {
  for (const app of apps) await app.stop()
  await redis?.stop()
})

/** So many requests at once, in turn to both instances. */
function texts(path: string, requests = 8): Promise<string[]> {
  return Promise.all(Array.from({ length: requests }, (_, n) => apps[n % 2]!.text(path)))
}

describe('next build', () => {
  it('needs no Redis', () => {
    expect(said).toContain('/posts/[id]')
    expect(said).not.toMatch(/ECONNREFUSED|BreakwaterError/)
  })
})

describe('two instances of next start', () => {
  const cold = ['/', '/posts/cold', '/api/stock?item=cold']

  it.each(cold)('T153 render %s once for all who ask at once', async (path) => {
    const all = await texts(path)
    expect(new Set(all).size).toBe(1)
    expect(await texts(path, 2)).toEqual(all.slice(0, 2))
  })

  it('a page past its time is served by both, and rendered anew by one', async () => {
    const [before] = await texts('/', 2)
    let after: string[] = []
    await until(async () => {
      after = await texts('/', 6)
      return after.every((text) => text !== before)
    })
    // Or it is past its time once more, and one instance has rendered it again.
    expect(new Set(after).size).toBeLessThanOrEqual(2)
  })

  it.each([
    { path: '/posts/1', change: 'tag=post-1' },
    { path: '/posts/2', change: 'path=/posts/2' },
    { path: '/posts/3', change: 'tag=post-3&profile=max' },
    { path: '/api/stock?item=4', change: 'tag=stock' },
    { path: '/api/stock?item=5', change: 'tag=stock&profile=max' },
  ])('$path of both is another after $change on one', async ({ path, change }) => {
    const [before] = await texts(path, 2)
    expect(await texts(path, 2)).toEqual([before, before])
    await apps[0]!.post(`/api/revalidate?${change}`)
    await until(async () => {
      const after = await texts(path, 4)
      return !after.includes(before!) && new Set(after).size === 1
    })
  })

  it('what a client navigates by is whole: the payload of a page is the same from both', async () => {
    await texts('/posts/rsc', 2)
    const payloads = apps.map(async ({ url }) => {
      const headers = { rsc: '1', 'next-router-prefetch': '1' }
      const response = await fetch(`${url}/posts/rsc`, { headers })
      return [response.status, response.headers.get('content-type'), await response.text()]
    })
    const [one, other] = await Promise.all(payloads)
    expect(one![0]).toBe(200)
    expect(one![1]).toContain('text/x-component')
    expect(one).toEqual(other)
  })
})

describe('Redis is gone', () => {
  it('pages that are there are served, others are rendered, and all is well when it is back', async () => {
    const kept = await texts('/posts/kept', 2)
    await redis.kill()
    expect(await texts('/posts/kept', 2)).toEqual(kept)
    const alone = await texts('/posts/new', 6)
    expect(new Set(alone).size).toBeLessThanOrEqual(2)
    await texts('/api/stock?item=new', 2)
    await apps[0]!.post('/api/revalidate?tag=post-new')
    expect(await apps[0]!.text('/posts/new')).not.toBe(alone[0])
    await redis.restart()
    await until(async () => new Set(await texts(`/posts/back-${Date.now()}`, 4)).size === 1)
  })
})
