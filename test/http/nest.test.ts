// What only Nest has: a module, guards, the decorators, interceptors around the cache's own.

import {
  Controller,
  Get,
  Head,
  Header,
  Injectable,
  Module,
  UseGuards,
  UseInterceptors,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common'
import { APP_INTERCEPTOR } from '@nestjs/core'
import { tap, type Observable } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'
import {
  Cached,
  HttpCache,
  HttpCacheInterceptor,
  HttpCacheModule,
  HttpCacheService,
} from '../../src/adapters/nest.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { decorate, nestApp, portOf, type Platform } from './support/nest.ts'
import { ask } from './support/raw-client.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

function memory(): Cache {
  const cache = createCache({ namespace: 'nest', ttl: '60s', jitter: 0, earlyRefresh: false })
  open.push(cache)
  return cache
}

const forAll: Provider = { provide: APP_INTERCEPTOR, useExisting: HttpCacheInterceptor }

async function started(
  platform: Platform,
  cached: DynamicModule,
  { controllers = [], providers = [] }: { controllers?: Type[]; providers?: Provider[] },
): Promise<{ app: INestApplication; port: number }> {
  class App {}
  decorate(App, [Module({ imports: [cached], controllers, providers })])
  const app = await nestApp(platform, App)
  const port = await portOf(app)
  open.unshift({
    close: async () => {
      app.getHttpServer().closeAllConnections()
      await app.close()
    },
  })
  return { app, port }
}

describe.each(['Express', 'Fastify'] as const)('Nest on %s', (platform) => {
  it('T148 two controllers, and a global prefix, never share what they keep', async () => {
    const controllers = ['cached1', 'cached2'].map((prefix) => {
      class Files {
        file() {
          return { prefix }
        }
      }
      decorate(Files, [Controller(prefix)])
      decorate(Files, [Get('file')], 'file')
      return Files
    })
    const { port } = await started(platform, HttpCacheModule.register({ cache: memory() }), {
      controllers,
      providers: [forAll],
    })
    for (let n = 0; n < 2; n++) {
      for (const prefix of ['cached1', 'cached2']) {
        const got = await ask(port, `/${prefix}/file`)
        expect(got.body.toString()).toBe(`{"prefix":"${prefix}"}`)
        expect(got.field('cache-status')).toMatch(n === 0 ? /fwd=miss/ : /;hit/)
      }
    }
  })

  it('T135 guards run at each request, hit or not', async () => {
    let runs = 0
    class Guard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return context.switchToHttp().getRequest().headers['x-blocked'] === undefined
      }
    }
    decorate(Guard, [Injectable()])
    class Guarded {
      page() {
        return { runs: ++runs }
      }
    }
    decorate(Guarded, [Controller()])
    decorate(Guarded, [Get(), UseGuards(Guard), UseInterceptors(HttpCacheInterceptor)], 'page')
    const { port } = await started(platform, HttpCacheModule.register({ cache: memory() }), {
      controllers: [Guarded],
    })
    await ask(port, '/')
    expect(await ask(port, '/', { headers: { 'X-Blocked': '1' } })).toMatchObject({ status: 403 })
    expect((await ask(port, '/')).body.toString()).toBe('{"runs":1}')
  })

  it('what a handler or a controller says comes before the module, and false is past the cache', async () => {
    class Pages {
      long() {
        return 'long'
      }
      never() {
        return 'never'
      }
      forbidden() {
        return 'forbidden'
      }
      plain() {
        return 'plain'
      }
    }
    decorate(Pages, [Controller(), HttpCache({ ttl: '2h' })])
    decorate(Pages, [Get('long'), HttpCache({ ttl: '1h' })], 'long')
    decorate(Pages, [Get('never'), HttpCache(false)], 'never')
    decorate(Pages, [Get('forbidden'), Header('Cache-Control', 'no-store')], 'forbidden')
    decorate(Pages, [Get('plain')], 'plain')
    const { port } = await started(
      platform,
      HttpCacheModule.registerAsync({ useFactory: async () => ({ cache: memory() }) }),
      { controllers: [Pages], providers: [forAll] },
    )
    const second = async (path: string): Promise<string | undefined> => {
      await ask(port, path)
      return (await ask(port, path)).field('cache-status')
    }
    expect(await second('/long')).toMatch(/hit;ttl=3(600|599)$/)
    expect(await second('/plain')).toMatch(/hit;ttl=7(200|199)$/)
    expect(await second('/never')).toBeUndefined()
    expect(await second('/forbidden')).toMatch(/fwd=miss;detail=no-store/)
    expect(() => HttpCache({ tl: 1 } as never)).toThrow(/HttpCache\.tl: unknown option/)
  })

  it('interceptors outside of it are told of each answer, and one that is bound twice stands once', async () => {
    let seen = 0
    class Pages {
      page() {
        return { a: 1 }
      }
    }
    decorate(Pages, [Controller(), UseInterceptors(HttpCacheInterceptor)])
    decorate(Pages, [Get()], 'page')
    const logging: Provider = {
      provide: APP_INTERCEPTOR,
      useValue: {
        intercept: (_: unknown, next: { handle(): Observable<unknown> }) =>
          next.handle().pipe(tap(() => seen++)),
      },
    }
    const { port } = await started(platform, HttpCacheModule.register({ cache: memory() }), {
      controllers: [Pages],
      providers: [logging, forAll],
    })
    for (let n = 1; n <= 3; n++) {
      expect((await ask(port, '/')).body.toString()).toBe('{"a":1}')
      expect(seen).toBe(n)
    }
  })

  it('T144 an exception is answered as ever, and not kept; HEAD has what GET has, or its own handler', async () => {
    let runs = 0
    class Pages {
      page() {
        if (++runs === 1) throw new Error('broken')
        return { runs }
      }
      ownHead() {}
      own() {
        return 'body'
      }
    }
    decorate(Pages, [Controller()])
    decorate(Pages, [Get()], 'page')
    decorate(Pages, [Head('own'), Header('X-Own', 'a')], 'ownHead')
    decorate(Pages, [Get('own')], 'own')
    const { port } = await started(platform, HttpCacheModule.register({ cache: memory() }), {
      controllers: [Pages],
      providers: [forAll],
    })
    expect(await ask(port, '/')).toMatchObject({ status: 500 })
    const head = await ask(port, '/', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, isWhole: true })
    expect(head.field('content-length')).toBe('10')
    expect((await ask(port, '/')).body.toString()).toBe('{"runs":2}')
    expect((await ask(port, '/own', { method: 'HEAD' })).field('x-own')).toBe('a')
    expect((await ask(port, '/own')).body.toString()).toBe('body')
  })

  it('is purged by the service, and by PURGE with the token', async () => {
    let runs = 0
    class Pages {
      page() {
        return `${++runs}`
      }
    }
    decorate(Pages, [Controller()])
    decorate(Pages, [Get('a')], 'page')
    const token = '0123456789abcdef'
    const { app, port } = await started(
      platform,
      HttpCacheModule.register({ cache: memory(), purge: { token } }),
      { controllers: [Pages], providers: [forAll] },
    )
    const read = async (): Promise<string> => (await ask(port, '/a?x=1')).body.toString()
    expect([await read(), await read()]).toEqual(['1', '1'])
    await app.get(HttpCacheService).purge('http://shop.test/a?x=1')
    expect(await read()).toBe('2')
    const headers = { Authorization: `Bearer ${token}` }
    expect(await ask(port, '/a?x=1', { method: 'PURGE', headers })).toMatchObject({ status: 200 })
    expect(await read()).toBe('3')
  })

  it('T150 a refresh in the background goes through the guards, and keeps its answer', async () => {
    let runs = 0
    let guarded = 0
    class Guard implements CanActivate {
      canActivate(): boolean {
        guarded++
        return true
      }
    }
    decorate(Guard, [Injectable()])
    class Pages {
      page() {
        return { runs: ++runs }
      }
    }
    decorate(Pages, [Controller(), UseGuards(Guard)])
    decorate(Pages, [Get()], 'page')
    const { port } = await started(
      platform,
      HttpCacheModule.register({ cache: memory(), ttl: '30ms', staleWhileRevalidate: '60s' }),
      { controllers: [Pages], providers: [forAll] },
    )
    let asked = 0
    await expect
      .poll(async () => (asked++, (await ask(port, '/')).body.toString()), { interval: 10 })
      .toBe('{"runs":3}')
    expect(guarded).toBeGreaterThan(asked)
  })
})

describe('Cached', () => {
  it('runs a method once for the same arguments, with the cache of the module', async () => {
    let runs = 0
    class Shop {
      readonly currency = 'EUR'
      async price(product: string, amount: number): Promise<string> {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return `${product} ${amount} ${this.currency} ${++runs}`
      }
      async named(product: { id: string }): Promise<number> {
        return product.id.length + ++runs
      }
    }
    decorate(Shop, [Injectable()])
    const cache = memory()
    decorate(Shop, [Cached({ ttl: '1m' }) as MethodDecorator], 'price')
    decorate(
      Shop,
      [Cached({ name: 'names', key: ({ id }: { id: string }) => id }) as MethodDecorator],
      'named',
    )
    const { app } = await started('Express', HttpCacheModule.register({ cache }), {
      providers: [Shop],
    })
    const shop = app.get(Shop)
    const got = await Promise.all(Array.from({ length: 5 }, () => shop.price('k1', 2)))
    expect(new Set(got)).toEqual(new Set(['k1 2 EUR 1']))
    expect(await shop.price('k1', 3)).toBe('k1 3 EUR 2')
    expect([await shop.named({ id: 'a' }), await shop.named({ id: 'a' })]).toEqual([4, 4])
    expect(Object.keys(cache.counters())).toEqual(expect.arrayContaining(['Shop.price', 'names']))
  })

  it('takes a cache of its own, and says so where there is none', async () => {
    const own = memory()
    let runs = 0
    class Alone {
      async own(): Promise<number> {
        return ++runs
      }
      async none(): Promise<number> {
        return ++runs
      }
    }
    decorate(Alone, [Cached({ cache: own }) as MethodDecorator], 'own')
    decorate(Alone, [Cached() as MethodDecorator], 'none')
    const alone = new Alone()
    expect([await alone.own(), await alone.own()]).toEqual([1, 1])
    await expect(async () => alone.none()).rejects.toThrow(/Alone\.none: expected a cache/)
  })
})
