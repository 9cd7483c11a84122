// A small shop on Nest: its pages are made once, however many ask, and kept for half a minute.
// `PORT=3000 node examples/nest/main.mjs`; with REDIS_URL, what is kept is shared. In TypeScript the
// decorators are written with `@`; here they are applied as the functions that they are.

import 'reflect-metadata'
import { Controller, Get, Inject, Injectable, Module, Param } from '@nestjs/common'
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core'
import { Redis } from 'ioredis'
import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Cached, HttpCache, HttpCacheInterceptor, HttpCacheModule } from 'breakwater/nest'

const { PORT = '3000', REDIS_URL } = process.env
const client = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
const cache = createCache({
  namespace: 'shop',
  ttl: '30s',
  staleWhileRevalidate: '5m',
  ...(client && { store: redisStore({ client }) }),
})

class Prices {
  async of(id) {
    return { keyboard: 49, mouse: 19 }[id] ?? null
  }
}
Injectable()(Prices)
on(Prices, 'of', Cached({ ttl: '1m' }))

class Products {
  constructor(prices) {
    this.prices = prices
  }

  async one(id) {
    return { id, price: await this.prices.of(id), at: Date.now() }
  }

  stock() {
    return { left: 3, at: Date.now() }
  }

  me() {
    return { at: Date.now() }
  }
}
Controller()(Products)
Inject(Prices)(Products, undefined, 0)
on(Products, 'one', Get('products/:id'))
Param('id')(Products.prototype, 'one', 0)
on(Products, 'stock', Get('stock'), HttpCache({ ttl: '1s' }))
on(Products, 'me', Get('me'), HttpCache(false))

class Shop {}
Module({
  imports: [HttpCacheModule.register({ cache, query: { ignore: ['utm_*'] } })],
  controllers: [Products],
  providers: [Prices, { provide: APP_INTERCEPTOR, useExisting: HttpCacheInterceptor }],
})(Shop)

const app = await NestFactory.create(Shop, { logger: false, forceCloseConnections: true })
await app.listen(Number(PORT), '127.0.0.1')
console.log(`listening on ${app.getHttpServer().address().port}`)

process.once('SIGTERM', () => void end())

async function end() {
  await app.close()
  await cache.close()
  client?.disconnect()
}

function on(target, name, ...decorators) {
  for (const decorate of decorators) {
    const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name)
    decorate(target.prototype, name, descriptor)
    Object.defineProperty(target.prototype, name, descriptor)
  }
}
