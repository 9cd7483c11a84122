/** One response cache on either platform of Nest: which rules a handler has, and what its requests are. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import {
  RequestMethod,
  type CallHandler,
  type ExecutionContext,
  type HttpServer,
} from '@nestjs/common'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { of, type Observable } from 'rxjs'
import { NodeCache, type Run } from '../http-node/http-cache.ts'
import type { NodeVisit } from '../http-node/visit.ts'
import type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
import { resolveRoute, type RouteRules } from '../http/rules.ts'
import { show as showExpress } from './express-requests.ts'
import { answerAsGet, isAnsweredAsGet, show as showFastify } from './fastify-requests.ts'

export const routeKey = 'breakwater:http-cache'

type Said = RouteCacheOptions | false | undefined
type ExpressRequest = IncomingMessage & { originalUrl: string }
type ExpressApp = Run & { use(handler: (...args: [never, never, never]) => void): void }
// eslint-disable-next-line typescript/no-unsafe-function-type -- as Nest calls classes and handlers
type Keyed<T> = WeakMap<Function, T>

export class NestCache {
  readonly node: NodeCache
  readonly #isFastify: boolean
  readonly #run: Run
  readonly #rules: Keyed<Keyed<RouteRules | 'past'>> = new WeakMap()
  /** An interceptor may be bound twice, to all and to one: the second would wait for the first. */
  readonly #underWay = new WeakSet<IncomingMessage>()

  constructor(options: HttpCacheOptions, adapter: HttpServer) {
    this.node = new NodeCache(options)
    this.#isFastify = adapter.getType() === 'fastify'
    const purges = this.node.responses.rules.purgeToken !== undefined
    if (this.#isFastify) {
      const instance = adapter.getInstance() as FastifyInstance
      this.#run = (req, res) => instance.routing(req, res)
      instance.addHook('onRoute', answerAsGet)
      if (purges) {
        instance.addHook('onRequest', (request, reply, done) => {
          if (request.raw.method !== 'PURGE') return done()
          const { raw: req } = request
          reply.hijack()
          this.#purge(req, reply.raw, request.originalUrl, done)
        })
      }
    } else {
      const app = adapter.getInstance() as ExpressApp
      this.#run = (req, res) => app(req, res)
      if (purges) {
        app.use((req: ExpressRequest, res: ServerResponse, next: () => void) => {
          if (req.method === 'PURGE') this.#purge(req, res, req.originalUrl, next)
          else next()
        })
      }
    }
  }

  #purge(req: IncomingMessage, res: ServerResponse, url: string, next: () => void): void {
    this.node.handle({ req, res, url, next }, this.node.route, undefined)
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle()
    const rules = this.#rulesOf(context)
    if (rules === 'past') return next.handle()
    const http = context.switchToHttp()
    const visit = this.#isFastify
      ? ofFastify(http.getRequest(), http.getResponse())
      : ofExpress(http.getRequest(), http.getResponse())
    if (visit === undefined || this.#underWay.has(visit.req)) return next.handle()
    if (visit.req.method === 'HEAD' && !isOfGet(context)) return next.handle()
    this.#underWay.add(visit.req)
    return new Promise((resolve) => {
      const { silence, ...rest } = visit
      const onAnswer = (send: () => void): void => {
        visit.onAnswer?.(send)
        // Nest goes on to answer with what it is given; that has been done.
        silence()
        resolve(of(undefined))
      }
      this.node.handle({ ...rest, onAnswer, next: () => resolve(next.handle()) }, rules, this.#run)
    })
  }

  #rulesOf(context: ExecutionContext): RouteRules | 'past' {
    const [controller, handler] = [context.getClass(), context.getHandler()]
    let known = this.#rules.get(controller)
    if (known === undefined) this.#rules.set(controller, (known = new WeakMap()))
    let rules = known.get(handler)
    if (rules === undefined) {
      const saidOfAll = Reflect.getMetadata(routeKey, controller) as Said
      const said = Reflect.getMetadata(routeKey, handler) as Said
      rules = this.#resolved(saidOfAll, said)
      known.set(handler, rules)
    }
    return rules
  }

  #resolved(saidOfAll: Said, said: Said): RouteRules | 'past' {
    if (said === false || (said === undefined && saidOfAll === false)) return 'past'
    const base = resolveRoute(this.node.route, saidOfAll === false ? {} : (saidOfAll ?? {}), prefix)
    return resolveRoute(base, said ?? {}, prefix)
  }
}

const prefix = 'HttpCache.'

/** Of names and values, before anything else of the route is known. */
export function checkRoute(options: RouteCacheOptions | false): void {
  if (options === false) return
  const any: RouteRules = {
    ttlMs: undefined,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    statuses: new Set(),
    user: () => undefined,
    storesSetCookie: false,
    skip: undefined,
    vary: [],
    query: { ignores: undefined, sorts: true },
    tags: [],
  }
  resolveRoute(any, options, prefix)
}

/** `@Head()` may answer anything; a HEAD that is answered by the handler of a GET is a GET without its body. */
function isOfGet(context: ExecutionContext): boolean {
  const method = Reflect.getMetadata('method', context.getHandler()) as RequestMethod
  return method === RequestMethod.GET || method === RequestMethod.ALL
}

type Platform = Omit<NodeVisit, 'next'> & { silence(): void }

function ofExpress(req: ExpressRequest, res: ServerResponse): Platform {
  const url = req.originalUrl
  return {
    req,
    res,
    url,
    onUrl: (shown) => showExpress(req, url, shown),
    onAnswer: (send) => send(),
    silence: () => {
      const nothing = (): unknown => res
      const names = ['send', 'json', 'redirect', 'render', 'set', 'setHeader', 'writeHead', 'end']
      for (const name of names) Object.defineProperty(res, name, { value: nothing })
    },
  }
}

function ofFastify(request: FastifyRequest, reply: FastifyReply): Platform | undefined {
  const { raw: req } = request
  if (req.httpVersionMajor !== 1) return undefined
  if (req.method === 'HEAD' && !isAnsweredAsGet(request.routeOptions.config)) return undefined
  const url = request.originalUrl
  return {
    req,
    res: reply.raw,
    url,
    onUrl: (shown) => showFastify(request, url, shown),
    others: () => reply.getHeaders() as OutgoingHttpHeaders,
    onAnswer: (send) => {
      reply.hijack()
      send()
    },
    silence: () => {
      const nothing = (): unknown => reply
      for (const name of ['send', 'redirect', 'view', 'header', 'code']) {
        Object.defineProperty(reply, name, { value: nothing })
      }
    },
  }
}
