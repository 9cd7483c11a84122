/** A response cache for whatever runs on Node's HTTP server, connect-style. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { PurgeOptions, Purges } from '../http/purges.ts'
import { ResponseCache } from '../http/response-cache.ts'
import type { Visit } from '../http/visit.ts'
import type { Dispatch } from '../http/responses.ts'
import { resolveHttp, type RouteRules } from '../http/rules.ts'
import { askedByNobody, recordingFor } from './nobody.ts'
import { visitOf, type NodeVisit } from './visit.ts'

/** `run`: runs the application for a request that no visitor made; without it nothing is refreshed in the background. */
export type Run = (req: IncomingMessage, res: ServerResponse) => void

export class NodeCache implements Purges {
  readonly responses: ResponseCache

  /** `refreshes`: what it handles comes with a `run`. `more`: names of the adapter's own options. */
  constructor(options: HttpCacheOptions, refreshes = true, more: readonly string[] = []) {
    this.responses = new ResponseCache(resolveHttp(options, more), refreshes)
  }

  get route(): RouteRules {
    return this.responses.rules.route
  }

  handle(of: NodeVisit, route: RouteRules, run: Run | undefined): void {
    this.visit(of.req, visitOf(of), route, run)
  }

  /** For a framework with a `Visit` of its own. */
  visit(req: IncomingMessage, visit: Visit, route: RouteRules, run: Run | undefined): void {
    const own = recordingFor(req)
    if (own !== undefined) {
      // A refresh goes through the layers as a request does, and past all caches but its own.
      const recording = own.owner === this ? own.recording : undefined
      return visit.lead({ recording, changes: undefined, additions: () => ({}) })
    }
    // Read now: the visitor may have left by then.
    const { remoteAddress } = req.socket
    const dispatch: Dispatch | undefined =
      run &&
      ((request, recording) => {
        const exchange = askedByNobody({ owner: this, remoteAddress }, request, recording)
        try {
          run(exchange.req, exchange.res)
        } catch (error) {
          recording.abort(error instanceof Error ? error.name : 'an error')
        }
      })
    this.responses.handle(visit, route, dispatch)
  }

  purge(url: string | URL, options?: PurgeOptions): Promise<void> {
    return this.responses.purging.url(url, options)
  }

  purgeTags(tags: string | readonly string[], options?: PurgeOptions): Promise<void> {
    return this.responses.purging.tags(tags, options)
  }
}
