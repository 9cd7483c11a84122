// Nest without the syntax of decorators, which the tests' transform does not know: applied as functions.

import 'reflect-metadata'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  All,
  Controller,
  Module,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
  type INestApplication,
  type Type,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import {
  HttpCacheInterceptor,
  HttpCacheModule,
  HttpCacheService,
} from '../../../src/adapters/nest.ts'
import type { Route, Seen, Start } from './apps.ts'

export type Platform = 'Express' | 'Fastify'

type Applies = ClassDecorator | MethodDecorator | ParameterDecorator

/** `@…` on a class, a method of it, or a method's parameter. */
export function decorate(
  on: Type,
  decorators: readonly Applies[],
  name?: string,
  at?: number,
): void {
  for (const one of decorators.toReversed()) {
    if (name === undefined) (one as ClassDecorator)(on)
    else if (at !== undefined) (one as ParameterDecorator)(on.prototype as object, name, at)
    else {
      const descriptor = Object.getOwnPropertyDescriptor(on.prototype, name)!
      ;(one as MethodDecorator)(on.prototype as object, name, descriptor)
      Object.defineProperty(on.prototype, name, descriptor)
    }
  }
}

export async function nestApp(
  platform: Platform,
  module: Type | object,
): Promise<INestApplication> {
  const adapter =
    platform === 'Express'
      ? new ExpressAdapter()
      : new FastifyAdapter({ forceCloseConnections: true })
  return NestFactory.create(module as Type, adapter, { logger: false, bodyParser: false })
}

export async function portOf(app: INestApplication): Promise<number> {
  await app.listen(0, '127.0.0.1')
  return (app.getHttpServer().address() as AddressInfo).port
}

interface AnyReply {
  status(code: number): AnyReply
  header(name: string, value: unknown): AnyReply
}

export function nest(platform: Platform): Start {
  return async (route: Route, options) => {
    class Everything {
      async answer(
        request: { raw?: IncomingMessage } & IncomingMessage,
        response: AnyReply & { raw?: ServerResponse },
      ): Promise<unknown> {
        const seen = (request.raw ?? request) as unknown as Seen
        const { status = 200, statusText, headers = {}, body = '' } = await route(seen)
        response.status(status)
        const raw = response.raw ?? (response as unknown as ServerResponse)
        if (statusText !== undefined) raw.statusMessage = statusText
        for (const name in headers) response.header(name, headers[name])
        if (typeof body === 'string') return body
        if (body instanceof Uint8Array && platform === 'Fastify') return body
        return body instanceof Uint8Array
          ? new StreamableFile(body)
          : new StreamableFile(Readable.from(body))
      }
    }
    decorate(Everything, [Controller()])
    decorate(
      Everything,
      [All(platform === 'Express' ? '{*all}' : '*'), UseInterceptors(HttpCacheInterceptor)],
      'answer',
    )
    decorate(Everything, [Req()], 'answer', 0)
    decorate(Everything, [Res({ passthrough: true })], 'answer', 1)
    class App {}
    decorate(App, [
      Module({ imports: [HttpCacheModule.register(options)], controllers: [Everything] }),
    ])
    const app = await nestApp(platform, App)
    if (platform === 'Fastify') {
      app
        .getHttpAdapter()
        .getInstance()
        .addContentTypeParser(
          '*',
          (_request: unknown, body: unknown, done: (error: null, body: unknown) => void) =>
            done(null, body),
        )
    }
    const port = await portOf(app)
    const purges = app.get(HttpCacheService)
    return {
      port,
      purge: (url, how) => purges.purge(url, how),
      purgeTags: (tags, how) => purges.purgeTags(tags, how),
      close: async () => {
        app.getHttpServer().closeAllConnections()
        await app.close()
      },
    }
  }
}
