/**
 * `HttpCacheModule.register({ cache, ttl: '30s' })` and `HttpCacheInterceptor`: for Nest 11 on Express
 * and on Fastify. Guards run before an interceptor, and so at each request, hit or not; refreshes in
 * the background go through the whole application, guards too, as a request without credentials does.
 *
 * Decorators are plain functions here, and so is how the classes are told to Nest.
 */
import {
  Inject,
  Injectable,
  Module,
  SetMetadata,
  type CallHandler,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
  type ModuleMetadata,
  type NestInterceptor,
} from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import type { Observable } from 'rxjs'
import type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
import type { PurgeOptions, Purges } from '../http/purges.ts'
import { cacheToken } from './nest-cached.ts'
import { checkRoute, NestCache, routeKey } from './nest-cache.ts'

export { Cached, type CachedOptions } from './nest-cached.ts'
export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

const optionsToken = Symbol('breakwater.httpCacheOptions')

/** What a handler, or all of a controller, says differently from the module; `false`: past the cache. */
export function HttpCache(options: RouteCacheOptions | false): ClassDecorator & MethodDecorator {
  checkRoute(options)
  return SetMetadata(routeKey, options)
}

/** Takes back what is kept; to be injected. */
export class HttpCacheService implements Purges {
  readonly #cache: NestCache

  constructor(options: HttpCacheOptions, host: HttpAdapterHost) {
    this.#cache = new NestCache(options, host.httpAdapter)
  }

  purge(url: string | URL, options?: PurgeOptions): Promise<void> {
    return this.#cache.node.purge(url, options)
  }

  purgeTags(tags: string | readonly string[], options?: PurgeOptions): Promise<void> {
    return this.#cache.node.purgeTags(tags, options)
  }

  intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    return this.#cache.intercept(context, next)
  }
}

/** For `@UseInterceptors`, or for all routes as `APP_INTERCEPTOR`. Interceptors inside of it run where the application is asked. */
export class HttpCacheInterceptor implements NestInterceptor {
  readonly #service: HttpCacheService

  constructor(service: HttpCacheService) {
    this.#service = service
  }

  intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    return this.#service.intercept(context, next)
  }
}

export interface HttpCacheAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject']
  // eslint-disable-next-line typescript/no-explicit-any -- what `inject` names
  useFactory: (...args: any[]) => HttpCacheOptions | Promise<HttpCacheOptions>
}

/** One for the application: it is global. Throws `INVALID_OPTION` when it starts, with a sentence that names the option. */
export class HttpCacheModule {
  static register(options: HttpCacheOptions): DynamicModule {
    return HttpCacheModule.registerAsync({ useFactory: () => options })
  }

  static registerAsync({ imports, inject, useFactory }: HttpCacheAsyncOptions): DynamicModule {
    return {
      module: HttpCacheModule,
      global: true,
      imports: imports ?? [],
      providers: [
        { provide: optionsToken, useFactory, inject: inject ?? [] },
        {
          provide: cacheToken,
          useFactory: ({ cache }: HttpCacheOptions) => cache,
          inject: [optionsToken],
        },
        HttpCacheService,
        HttpCacheInterceptor,
      ],
      exports: [cacheToken, HttpCacheService, HttpCacheInterceptor],
    }
  }
}

Module({})(HttpCacheModule)
Injectable()(HttpCacheService)
Inject(optionsToken)(HttpCacheService, undefined, 0)
Inject(HttpAdapterHost)(HttpCacheService, undefined, 1)
Injectable()(HttpCacheInterceptor)
Inject(HttpCacheService)(HttpCacheInterceptor, undefined, 0)
