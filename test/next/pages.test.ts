// Pages and route handlers of two instances on one Redis: what one has rendered, the other serves.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ownServer } from '../support/own-server.ts'
import { counted, instances, page, pageOf, pause, seenAs, until, visit } from './instances.ts'

const server = ownServer()
const instance = instances(server)
const minute = { revalidate: 60, expire: 3_600 }

describe('what is kept', () => {
  it('a page comes back in another instance as it was: text, bytes, maps and header fields', async () => {
    const [a, b] = [instance(), instance()]
    const value = pageOf('<p>ü</p>', 'one,two')
    const first = a.request()
    expect(await first.get('/p', page)).toBeNull()
    await first.set('/p', value, { ...page, cacheControl: minute })
    const got = await b.request().get('/p', page)
    expect(got?.value).toEqual(value)
    const { rscData, segmentData } = got!.value as Record<string, any>
    expect(Buffer.isBuffer(rscData)).toBe(true)
    expect(segmentData).toBeInstanceOf(Map)
    expect(Buffer.isBuffer(segmentData.get('/_tree'))).toBe(true)
    expect(got!.cacheControl).toEqual(minute)
  })

  it('a route handler, a page of the pages router, a redirect and "not found" come back, too', async () => {
    const [a, b] = [instance(), instance()]
    const values = {
      route: { kind: 'APP_ROUTE', body: Buffer.from([0, 159, 255]), status: 201, headers: {} },
      pages: { kind: 'PAGES', html: '<p/>', pageData: { a: [1, null] }, status: 200, headers: {} },
      redirect: { kind: 'REDIRECT', props: { pageProps: { to: '/x' } } },
      missing: null,
    }
    for (const [key, value] of Object.entries(values)) {
      const handler = a.request()
      await handler.get(key, page)
      await handler.set(key, value, { ...page, cacheControl: minute })
      const got = await b.request().get(key, page)
      expect(got?.value).toEqual(value)
      expect(seenAs(got)).toBe('fresh')
    }
  })

  it('what Next.js does to the header fields of an answer harms no other request', async () => {
    const a = instance()
    const handler = a.request()
    await handler.get('/p', page)
    await handler.set('/p', pageOf('x', 'one'), { ...page, cacheControl: minute })
    const { value } = (await a.request().get('/p', page)) as { value: any }
    delete value.headers['x-next-cache-tags']
    const again = (await a.request().get('/p', page)) as { value: any }
    expect(again.value.headers['x-next-cache-tags']).toBe('one')
  })

  it('a new build does not read the pages of the old one, unless it is told to', async () => {
    const { render } = counted()
    await visit(instance({ version: 'old' }), '/p', render, minute)
    expect(await instance({ version: 'new' }).request().get('/p', page)).toBeNull()
    const shared = instance({ version: false })
    await visit(shared, '/q', render, minute)
    expect(seenAs(await instance({ version: false }).request().get('/q', page))).toBe('fresh')
  })

  it('what is over the limit of the cache is answered, and rendered again', async () => {
    const a = instance({ maxBytes: '64KiB' })
    const { renders, render } = counted()
    const big = async () => (await render()) + randomBytes(100_000).toString('hex')
    expect((await visit(a, '/big', big, minute)).html).toHaveLength(200_005)
    await a.cache.idle()
    await visit(a, '/big', big, minute)
    expect(renders.begun).toBe(2)
  })
})

describe('one render', () => {
  it('T153 many requests for one cold page in two instances are one render', async () => {
    const [a, b] = [instance(), instance()]
    const { renders, render } = counted(200)
    const all = Array.from({ length: 40 }, (_, n) => visit(n % 2 ? a : b, '/p', render, minute))
    expect(new Set((await Promise.all(all)).map(({ html }) => html))).toEqual(new Set(['first']))
    expect(renders.begun).toBe(1)
  })

  it('a page past its time is served to all at once, and one instance renders it', async () => {
    const [a, b] = [instance(), instance()]
    const short = { revalidate: 1, expire: 3_600 }
    const { renders, render } = counted(300)
    await visit(a, '/p', render, short)
    await visit(b, '/p', render, short)
    await pause(1_100)
    renders.content = 'second'
    const all = Array.from({ length: 20 }, (_, n) => visit(n % 2 ? a : b, '/p', render, short))
    const served = await Promise.all(all)
    expect(served.map(({ html }) => html)).toEqual(served.map(() => 'first'))
    expect(served.filter(({ seen }) => seen === 'stale')).toHaveLength(1)
    for (const { background } of served) await background
    expect(renders.begun).toBe(2)
    const html = async (of: typeof a) => (await visit(of, '/p', render, minute)).html
    await until(async () => (await html(a)) === 'second' && (await html(b)) === 'second')
  })

  it('only the first in an instance waits to find out who renders what is stale', async () => {
    const [a, b] = [instance(), instance()]
    const short = { revalidate: 1, expire: 3_600 }
    let end = (): void => {}
    const ended = new Promise<string>((resolve) => (end = () => resolve('second')))
    await visit(a, '/p', counted().render, short)
    await pause(1_100)
    const first = await visit(a, '/p', () => ended, short)
    expect(first.seen).toBe('stale')
    await visit(b, '/p', counted().render, short)
    const took: number[] = []
    for (let n = 0; n < 40; n++) {
      const began = performance.now()
      expect(await visit(b, '/p', counted().render, short)).toMatchObject({ html: 'first' })
      took.push(performance.now() - began)
    }
    // Who waits does so for 50 ms; whatever else is going on, one of them has been quicker.
    expect(Math.min(...took)).toBeLessThan(50)
    end()
    await first.background
  })

  it('a page past its expire is served to nobody, and rendered once', async () => {
    const [a, b] = [instance(), instance()]
    const short = { revalidate: 1, expire: 1 }
    const { renders, render } = counted(200)
    await visit(a, '/p', render, short)
    await pause(1_100)
    renders.content = 'second'
    const served = await Promise.all([a, b, a, b].map((of) => visit(of, '/p', render, minute)))
    expect(served.map(({ html }) => html)).toEqual(['second', 'second', 'second', 'second'])
    expect(renders.begun).toBe(2)
  })

  it('a prefetch is answered with what is stale, and leaves the render to the next visitor', async () => {
    const a = instance()
    const short = { revalidate: 1, expire: 3_600 }
    const { renders, render } = counted()
    await visit(a, '/p', render, short)
    await pause(1_100)
    renders.content = 'second'
    const headers = { 'next-router-prefetch': '1' }
    const prefetched = await visit(a, '/p', render, { ...short, headers })
    expect(prefetched.html).toBe('first')
    expect(renders.begun).toBe(1)
    const visited = await visit(a, '/p', render, short)
    expect(visited).toMatchObject({ html: 'first', seen: 'stale' })
    await visited.background
    await until(async () => (await visit(a, '/p', render, minute)).html === 'second')
  })
})

describe('a render that stores nothing', () => {
  const failing = async (): Promise<string> => {
    throw new Error('no database')
  }

  it('T144 wedges nothing: others wait as long as was said, once, and then render', async () => {
    const [a, b] = [instance({ wait: 1_000 }), instance({ wait: 1_000 })]
    await expect(visit(a, '/p', failing, minute)).rejects.toThrow('no database')
    const { render } = counted()
    const began = Date.now()
    expect((await visit(b, '/p', render, minute)).html).toBe('first')
    expect(Date.now() - began).toBeGreaterThanOrEqual(950)
    const took: number[] = []
    for (let n = 0; n < 3; n++) {
      const again = Date.now()
      expect((await visit(b, '/p', render, minute)).html).toBe('first')
      took.push(Date.now() - again)
    }
    expect(Math.min(...took)).toBeLessThan(950)
  })

  it('the key is free when the render has had its time', async () => {
    const [a, b] = [instance({ wait: 5_000, renderTimeout: 300 }), instance({ wait: 5_000 })]
    await expect(visit(a, '/p', failing, minute)).rejects.toThrow('no database')
    const { renders, render } = counted()
    expect((await visit(b, '/p', render, minute)).html).toBe('first')
    await until(async () => {
      await visit(b, '/p', render, minute)
      return seenAs(await a.request().get('/p', page)) === 'fresh'
    })
    expect(renders.begun).toBeLessThan(4)
  })

  it('a slow render is kept, although others have not waited for it', async () => {
    const [a, b] = [instance({ wait: 200 }), instance({ wait: 200 })]
    const slow = visit(a, '/p', counted(800).render, minute)
    await until(() => Object.values(a.cache.counters()).some(({ leases }) => leases > 0))
    const { renders, render } = counted()
    renders.content = 'own'
    expect((await visit(b, '/p', render, minute)).html).toBe('own')
    await slow
    await until(async () => (await visit(b, '/p', render, minute)).html === 'first')
  })
})

describe('Redis is gone', () => {
  it('pages are served and rendered, and kept in each instance for a while', async () => {
    const a = instance({ outageTtl: 60_000 })
    const { renders, render } = counted()
    await visit(a, '/kept', render, minute)
    await a.cache.idle()
    server.freeze()
    try {
      expect((await visit(a, '/kept', render, minute)).html).toBe('first')
      // What is kept before it is known that Redis is gone need not be believed afterwards.
      await until(async () => {
        await visit(a, `/${Math.random()}`, render, minute)
        return a.cache.health().store === 'down'
      })
      renders.content = 'second'
      const { begun } = renders
      expect((await visit(a, '/new', render, minute)).html).toBe('second')
      expect((await visit(a, '/new', render, minute)).html).toBe('second')
      expect(renders.begun).toBe(begun + 1)
    } finally {
      server.thaw()
    }
  })
})
