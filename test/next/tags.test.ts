// Tags: what one instance changes, all of them know, also for what is being rendered meanwhile.

import { describe, expect, it } from 'vitest'
import { ownServer } from '../support/own-server.ts'
import { apart, counted, instances, page, pageOf, until, visit } from './instances.ts'

const server = ownServer()
const instance = instances(server)
const minute = { revalidate: 60, expire: 3_600 }
const forever = { revalidate: false, expire: 31_536_000 } as const
const fetching = { kind: 'FETCH', revalidate: 60, tags: ['posts'] } as const
const fetched = (body: string): object => ({
  kind: 'FETCH',
  data: { headers: {}, body, status: 200, url: 'http://origin/' },
  revalidate: 60,
})

describe('revalidateTag', () => {
  it('on one instance is seen by the other: the next visitor waits for the new page', async () => {
    const [a, b] = [instance(), instance()]
    const { renders, render } = counted()
    const tagged = { ...minute, tags: '_N_T_/p,posts' }
    await visit(a, '/p', render, tagged)
    expect((await visit(b, '/p', render, tagged)).html).toBe('first')
    renders.content = 'second'
    await a.request().revalidateTag(['posts'])
    expect((await visit(a, '/p', render, tagged)).html).toBe('second')
    await until(async () => (await visit(b, '/p', render, tagged)).html === 'second')
    expect(renders.begun).toBe(2)
  })

  it('with a profile serves the old page to all, and one instance renders it anew', async () => {
    const [a, b] = [instance(), instance()]
    const { renders, render } = counted(100)
    const tagged = { ...forever, tags: 'posts' }
    await visit(a, '/p', render, tagged)
    await visit(b, '/p', render, tagged)
    renders.content = 'second'
    await a.request().revalidateTag('posts', { expire: 3_600 })
    await until(async () => {
      const served = await Promise.all([b, a, b, a].map((of) => visit(of, '/p', render, tagged)))
      for (const { background } of served) await background
      return served.every(({ html }) => html === 'second')
    })
    expect(renders.begun).toBe(2)
  })

  it('with a profile that ends at once serves the old page to nobody', async () => {
    const a = instance()
    const { renders, render } = counted()
    await visit(a, '/p', render, { ...forever, tags: 'posts' })
    await a.request().revalidateTag('posts', { expire: 0 })
    await visit(a, '/p', render, { ...forever, tags: 'posts' })
    expect(renders.begun).toBe(2)
  })

  it('a page whose render had begun before is not kept', async () => {
    const [a, b] = [instance(), instance()]
    const handler = a.request()
    expect(await handler.get('/p', page)).toBeNull()
    await b.request().revalidateTag('posts')
    await handler.set('/p', pageOf('of before', 'posts'), { ...page, cacheControl: minute })
    await a.cache.idle()
    const { render } = counted()
    expect((await visit(b, '/p', render, { ...minute, tags: 'posts' })).html).toBe('first')
  })

  it('renders that overtake each other store by what was known when each began', async () => {
    const a = instance({ wait: 200 })
    const old = async (): Promise<void> => {
      const handler = a.request()
      expect(await handler.get('data', { ...fetching, kind: 'FETCH' })).toBeNull()
      await changed
      await isOvertaken
      await handler.set('data', fetched('old'), { fetchCache: true, tags: ['posts'] })
    }
    let change = (): void => {}
    let overtake = (): void => {}
    const changed = new Promise<void>((resolve) => (change = resolve))
    const isOvertaken = new Promise<void>((resolve) => (overtake = resolve))
    const first = old()
    await until(() => a.cache.health().loads.running === 1)
    await a.request().revalidateTag('posts')
    change()
    const second = async (): Promise<void> => {
      const handler = a.request()
      expect(await handler.get('data', fetching)).toBeNull()
      overtake()
      await first
      await handler.set('data', fetched('new'), { fetchCache: true, tags: ['posts'] })
    }
    await second()
    await a.cache.idle()
    const got = await instance().request().get('data', fetching)
    expect((got?.value as any)?.data.body ?? 'new').toBe('new')
  })
})

describe('several handlers on one cache', () => {
  it('are told by Next.js of one change, and make one of it', async () => {
    const a = instance()
    const told: unknown[] = []
    a.cache.on('invalidated', ({ tags }) => told.push(tags))
    const all = [a.useCache.updateTags(['posts', 'one']), a.request().revalidateTag(['posts'])]
    await Promise.all([...all, a.request().revalidateTag('two', { expire: 60 })])
    expect(told).toEqual([['posts', 'one'], ['two']])
    await a.request().revalidateTag(['posts'])
    expect(told).toHaveLength(3)
  })
})

describe('tags of the route', () => {
  it('revalidatePath reaches data that was stored by another route', async () => {
    const [a, b] = [instance(), instance()]
    const viaOne = { ...fetching, softTags: ['_N_T_/layout', '_N_T_/one'] }
    const viaTwo = { ...fetching, softTags: ['_N_T_/layout', '_N_T_/two'] }
    const handler = a.request()
    expect(await handler.get('data', viaOne)).toBeNull()
    await handler.set('data', fetched('x'), { fetchCache: true, tags: ['posts'] })
    expect((await b.request().get('data', viaTwo))?.value).toEqual(fetched('x'))
    await b.request().revalidateTag(['_N_T_/two'])
    expect(await b.request().get('data', viaTwo)).toBeNull()
  })

  it('a page that is rendered has the new data, whoever fetches it; others have the old meanwhile', async () => {
    const [a, b] = [instance(), instance()]
    const how = { fetchCache: true, tags: ['posts'] }
    const bodyOf = (entry: any): string => entry.value.data.body
    const handler = a.request()
    await handler.get('data', fetching)
    await handler.set('data', fetched('old'), how)
    expect(bodyOf(await b.request().get('data', fetching))).toBe('old')
    await b.request().revalidateTag('posts', { expire: 3_600 })
    const fetch = apart(async () => {
      const inB = b.request()
      const stale = await inB.get('data', fetching)
      expect(bodyOf(stale)).toBe('old')
      expect(stale!.lastModified + 60_000).toBeLessThan(Date.now())
      await rendering
      await covered
      await inB.set('data', fetched('new'), how)
    })
    let begin = (): void => {}
    const rendering = new Promise<void>((resolve) => (begin = resolve))
    await until(() => b.cache.health().loads.running === 1)
    const render = async (): Promise<string> => {
      begin()
      return bodyOf(await a.request().get('data', fetching))
    }
    const visited = visit(a, '/p', render, minute)
    const covered = rendering.then(() => apart(() => a.request().get('data', fetching)))
    expect((await visited).html).toBe('new')
    expect(bodyOf(await covered)).toBe('old')
    expect((await covered)!.lastModified + 60_000).toBeGreaterThan(Date.now())
    await fetch
  })

  it('data outlives a build', async () => {
    const handler = instance({ version: 'old' }).request()
    await handler.get('data', fetching)
    await handler.set('data', fetched('x'), { fetchCache: true, tags: [] })
    const got = await instance({ version: 'new' }).request().get('data', fetching)
    expect(got?.value).toEqual(fetched('x'))
  })
})
