/**
 * `app.register(httpCache, { cache, ttl: '30s' })`: for Fastify 5, and for the scope in which it is
 * registered. It stands in an `onRequest` hook: what was added before it runs at each request, what is
 * added later, and everything from parsing to `onSend`, only where the application is asked.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { NodeCache } from '../http-node/http-cache.ts'
import type { HttpCacheOptions, RouteCacheOptions } from '../http/option-types.ts'
import type { Purges } from '../http/purges.ts'
import { resolveRoute, type RouteRules } from '../http/rules.ts'
import { answerAsGet, isAnsweredAsGet, show, type Configured } from './fastify-requests.ts'
import { hasLine, isHandshake } from './handshake.ts'

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
  const versions = new WeakMap<RouteRules, RouteRules>()
  const run = (req: FastifyRequest['raw'], res: FastifyReply['raw']): void => {
    instance.routing(req, res)
  }

  const rulesFor = (config: Configured): RouteRules | 'past' => {
    let rules = routes.get(config)
    if (rules === undefined) routes.set(config, (rules = resolved(node.route, config)))
    return rules
  }

  /** Fastify chooses the route by it (`constraints.version`), and says so in no `Vary`. */
  const versioned = (rules: RouteRules): RouteRules => {
    let own = versions.get(rules)
    if (own === undefined) {
      const vary = [...new Set([...rules.vary, 'accept-version'])]
      versions.set(rules, (own = { ...rules, vary }))
    }
    return own
  }

  instance.addHook('onRoute', function (route) {
    if (!isOurs(this)) return
    // Wrong ones are told of where they were written.
    if (route.config !== undefined) resolved(node.route, route.config)
    answerAsGet(route)
  })

  instance.addHook('onRequest', (request, reply, next) => {
    const { raw: req } = request
    // Over HTTP/2 requests and responses are other objects, which cannot be shown differently.
    if (!isOurs(request.server) || req.httpVersionMajor !== 1) return next()
    if (isHandshake(req)) return next()
    const { config } = request.routeOptions as { config: Configured }
    const said = rulesFor(config)
    if (said === 'past') return next()
    const rules = hasLine(req, 'accept-version') ? versioned(said) : said
    if (req.method === 'HEAD' && !isAnsweredAsGet(config)) return next()
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

function resolved(base: RouteRules, { cache }: Configured): RouteRules | 'past' {
  if (cache === false) return 'past'
  return cache === undefined ? base : resolveRoute(base, cache, 'cache.')
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
