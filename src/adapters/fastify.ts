/**
 * `app.register(httpCache, { cache, ttl: '30s' })`: for Fastify 5, and for the scope in which it is
 * registered. It stands in an `onRequest` hook: what was added before it runs at each request, what is
 * added later, and everything from parsing to `onSend`, only where the application is asked.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type {
  FastifyInstance,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  RouteOptions,
} from 'fastify'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'
import { resolveRoute, type RouteRules } from '../http/rules.ts'

export type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
export type { Fields, HttpRequest } from '../http/message.ts'
export type { PurgeOptions, Purges } from '../http/purges.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Takes back what the response cache of this scope keeps. */
    httpCache: Purges
  }
  interface FastifyContextConfig {
    /** What this route says differently from the response cache of its scope; `false`: past it. */
    cache?: RouteCacheOptions | false | undefined
  }
}

/** Throws `INVALID_OPTION` for every option that is wrong, with a sentence that names it. */
export const httpCache: FastifyPluginCallback<HttpCacheOptions> = Object.assign(
  (instance: FastifyInstance, options: HttpCacheOptions, done: (error?: Error) => void): void => {
    // What `prefix` and the like say is said to Fastify.
    const { prefix: _, logLevel: __, logSerializers: ___, ...own } = options as Registered
    try {
      install(instance, new NodeCache(own))
      done()
    } catch (error) {
      done(error as Error)
    }
  },
  {
    // Without it the hooks would be for a scope of their own, in which no route is.
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'breakwater',
    [Symbol.for('plugin-meta')]: { fastify: '5.x', name: 'breakwater' },
  },
)

type Registered = HttpCacheOptions & {
  prefix?: unknown
  logLevel?: unknown
  logSerializers?: unknown
}

function install(instance: FastifyInstance, node: NodeCache): void {
  if (Object.hasOwn(instance, 'httpCache')) {
    throw new Error('httpCache: expected once in a scope, got it twice')
  }
  const purges: Purges = { purge: node.purge.bind(node), purgeTags: node.purgeTags.bind(node) }
  // Not by `decorate`, which refuses what an outer scope has: the innermost is the one that counts.
  Object.defineProperty(instance, 'httpCache', { value: purges })
  const isOurs = (scope: FastifyInstance): boolean => scope.httpCache === purges
  const { responses } = node
  const routes = new WeakMap<object, RouteRules | 'past'>()
  const run = (req: FastifyRequest['raw'], res: FastifyReply['raw']): void => {
    instance.routing(req, res)
  }

  const rulesFor = (config: Configured): RouteRules | 'past' => {
    let rules = routes.get(config)
    if (rules === undefined) routes.set(config, (rules = resolved(node.route, config)))
    return rules
  }

  instance.addHook('onRoute', function (route) {
    if (!isOurs(this)) return
    // Wrong ones are told of where they were written.
    if (route.config !== undefined) resolved(node.route, route.config)
    if (asGet(route)) route.config = { ...route.config, [answersAsGet]: true } as Configured
  })

  instance.addHook('onRequest', (request, reply, next) => {
    const { raw: req } = request
    // Over HTTP/2 requests and responses are other objects, which cannot be shown differently.
    if (!isOurs(request.server) || req.httpVersionMajor !== 1) return next()
    const { config } = request.routeOptions as { config: Configured }
    const rules = rulesFor(config)
    if (rules === 'past') return next()
    if (req.method === 'HEAD' && config[answersAsGet] !== true) return next()
    const url = request.originalUrl
    node.handle(
      {
        req,
        res: reply.raw,
        url,
        next,
        onUrl: (shown) => show(request, url, shown),
        others: () => reply.getHeaders() as OutgoingHttpHeaders,
        onAnswer: (send) => {
          reply.hijack()
          send()
        },
      },
      rules,
      run,
    )
  })

  if (responses.rules.purgeToken !== undefined) routePurge(instance)
}

/** In the configuration of a route: shown a HEAD as a GET, it answers with what is right for both. */
const answersAsGet = Symbol('breakwater.answersAsGet')

interface Configured {
  cache?: RouteCacheOptions | false | undefined
  [answersAsGet]?: true
}

function resolved(base: RouteRules, { cache }: Configured): RouteRules | 'past' {
  if (cache === false) return 'past'
  return cache === undefined ? base : resolveRoute(base, cache, 'cache.')
}

/**
 * The HEAD route that Fastify adds beside a GET route runs its handler and drops the body, which is
 * kept here where the cache shows it a GET. A HEAD route of the user's own may answer anything: past it.
 */
function asGet(route: RouteOptions): boolean {
  if (Array.isArray(route.method)) return ['GET', 'HEAD'].every((one) => route.method.includes(one))
  if (route.method !== 'HEAD' || route.onSend === undefined) return false
  const hooks = [route.onSend].flat() as onSendHookHandler[]
  const dropsBody = hooks.find((hook) => hook.name === 'headRouteOnSendHandler')
  if (dropsBody === undefined) return false
  route.onSend = hooks.map((hook): onSendHookHandler => {
    if (hook !== dropsBody) return hook
    return function (request, reply, payload, done) {
      if (request.raw.method !== 'HEAD') done(null, payload)
      else Reflect.apply(hook, this, [request, reply, payload, done])
    }
  })
  return true
}

/** What the cache ignores of the query is not seen by the application, parsed or not. */
function show(request: FastifyRequest, url: string, shown: string): void {
  const { raw } = request as { raw: FastifyRequest['raw'] & { originalUrl?: string } }
  const left = new Set(queryOf(shown))
  const gone = new Set(queryOf(url).filter((part) => !left.has(part)))
  // It may have been rewritten, or stripped of a prefix.
  const [path, ...rest] = raw.url!.split('?')
  const kept = rest
    .join('?')
    .split('&')
    .filter((part) => part !== '' && !gone.has(part))
  raw.url = kept.length === 0 ? path! : `${path}?${kept.join('&')}`
  if (raw.originalUrl !== undefined) raw.originalUrl = shown
  const { query } = request as { query: Record<string, unknown> | null }
  const names = namesOf(kept)
  if (query !== null) for (const name of namesOf(gone)) if (!names.has(name)) delete query[name]
}

/** `a[b]=1` is a part of `a` to some parsers. */
function namesOf(parts: Iterable<string>): Set<string> {
  const names = new URLSearchParams([...parts].join('&')).keys()
  return new Set([...names].flatMap((name) => [name, name.split('[', 1)[0]!]))
}

function queryOf(url: string): string[] {
  const at = url.indexOf('?')
  return at < 0 ? [] : url.slice(at + 1).split('&')
}

/** `PURGE` is of no route, and so of no scope: here it is of this one, and the hook answers it. */
function routePurge(instance: FastifyInstance): void {
  if (!instance.supportedMethods.includes('PURGE')) instance.addHttpMethod('PURGE')
  const urls = instance.prefix === '' ? ['/*'] : ['', '/*']
  for (const url of urls) {
    if (instance.hasRoute({ method: 'PURGE', url: instance.prefix + url })) continue
    instance.route({
      method: 'PURGE',
      url,
      schema: { hide: true } as object,
      handler: (_, reply) => reply.callNotFound(),
    })
  }
}
