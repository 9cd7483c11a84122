/** What the plugin for Fastify and Nest on Fastify do with its requests and routes. */
import type { FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify'
import type { RouteCacheOptions } from '../http/option-types.ts'

/** In the configuration of a route: shown a HEAD as a GET, it answers with what is right for both. */
const answersAsGet = Symbol('breakwater.answersAsGet')

export interface Configured {
  cache?: RouteCacheOptions | false | undefined
  [answersAsGet]?: true
}

export function isAnsweredAsGet(config: Configured): boolean {
  return config[answersAsGet] === true
}

/**
 * For an `onRoute` hook. The HEAD route that Fastify adds beside a GET route runs its handler and drops
 * the body, which is kept here where the cache shows it a GET. A HEAD route of the user's own may
 * answer anything.
 */
export function answerAsGet(route: RouteOptions): void {
  if (asGet(route)) route.config = { ...route.config, [answersAsGet]: true } as Configured
}

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
export function show(request: FastifyRequest, url: string, shown: string): void {
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
