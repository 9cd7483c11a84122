// Routes behind Koa, with and without a compression in the way.

import { createServer, type Server } from 'node:http'
import { Readable } from 'node:stream'
import Koa, { type Context } from 'koa'
import compress from 'koa-compress'
import { httpCache } from '../../../src/adapters/koa.ts'
import type { HttpCacheOptions } from '../../../src/adapters/http.ts'
import type { Route } from './apps.ts'
import type { Made } from './fetch.ts'

export async function played(ctx: Context, route: Route): Promise<void> {
  const { method, originalUrl, headers } = ctx
  const {
    status,
    statusText,
    headers: said = {},
    body,
  } = await route({ method, url: originalUrl, headers })
  ctx.status = status ?? 200
  ctx.body = body === undefined ? null : isWhole(body) ? body : Readable.from(body)
  for (const [name, value] of Object.entries(said)) ctx.set(name, value as string | string[])
  if (statusText !== undefined) ctx.message = statusText
}

function isWhole(body: unknown): boolean {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** Its body is broken off on purpose. */
export function quiet(app: Koa): Koa {
  app.silent = true
  return app
}

export function serverOf(app: Koa): Server {
  const run = app.callback()
  return createServer((req, res) => void run(req, res))
}

export function koa(route: Route, options: HttpCacheOptions): Made {
  const app = quiet(new Koa())
  const cached = httpCache(options)
  app.use(cached)
  app.use((ctx) => played(ctx, route))
  return { server: serverOf(app), purges: cached }
}

export function compressedKoa(side: 'outside' | 'inside'): typeof koa {
  return (route, options) => {
    const app = quiet(new Koa())
    const cached = httpCache(options)
    const compressing = compress({ threshold: 100 })
    if (side === 'outside') app.use(compressing).use(cached)
    else app.use(cached).use(compressing)
    app.use((ctx) => played(ctx, route))
    return { server: serverOf(app), purges: cached }
  }
}
