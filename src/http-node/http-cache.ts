/** A response cache for whatever runs on Node's HTTP server, connect-style. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpCacheOptions } from '../http/option-types.ts'
import type { PurgeOptions, Purges } from '../http/purges.ts'
import { ResponseCache } from '../http/response-cache.ts'
import type { Dispatch } from '../http/responses.ts'
import { resolveHttp, type RouteRules } from '../http/rules.ts'
import { baselineOf, capture } from './capture.ts'
import { askedByNobody, recordingFor } from './nobody.ts'
import { visitOf, type NodeVisit } from './visit.ts'

/** `run`: runs the application for a request that no visitor made; without it nothing is refreshed in the background. */
export type Run = (req: IncomingMessage, res: ServerResponse) => void

export class NodeCache implements Purges {
  readonly responses: ResponseCache

  constructor(options: HttpCacheOptions, more: readonly string[] = []) {
    this.responses = new ResponseCache(resolveHttp(options, more))
  }

  get route(): RouteRules {
    return this.responses.rules.route
  }

  handle(visit: NodeVisit, route: RouteRules, run: Run | undefined): void {
    const { req, res } = visit
    const own = recordingFor(req)
    if (own !== undefined) {
      // A refresh goes through the layers as a request does, and past all caches but its own.
      if (own.owner === this) {
        const how = { recording: own.recording, changes: undefined, additions: () => ({}) }
        capture(res, how, baselineOf(res, visit.others?.()))
      }
      return visit.next()
    }
    const dispatch: Dispatch | undefined =
      run &&
      ((request, recording) => {
        const exchange = askedByNobody(this, request, recording)
        try {
          run(exchange.req, exchange.res)
        } catch (error) {
          recording.abort(error instanceof Error ? error.name : 'an error')
        }
      })
    this.responses.handle(visitOf(visit), route, dispatch)
  }

  purge(url: string | URL, options?: PurgeOptions): Promise<void> {
    return this.responses.purging.url(url, options)
  }

  purgeTags(tags: string | readonly string[], options?: PurgeOptions): Promise<void> {
    return this.responses.purging.tags(tags, options)
  }
}
