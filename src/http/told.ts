/** What visitors are told of the cache: in `Cache-Status`, in `Vary`, and where it refuses. */
import { textAnswer, varyField, type Answer } from './answer.ts'
import { appended, cacheStatus, type CacheStatus, type Forwarded } from './cache-status.ts'
import { field, type Fields, type Head, type StoredResponse } from './message.ts'
import type { HttpRules, RouteRules } from './rules.ts'

export class Told {
  readonly #status: CacheStatus | undefined

  constructor(rules: HttpRules) {
    this.#status = rules.cacheStatus === undefined ? undefined : cacheStatus(rules.cacheStatus)
  }

  hit(freshUntil: number, now: number): string | undefined {
    return this.#status?.hit((freshUntil - now) / 1000)
  }

  /** Of what was there before `now`, or has been loaded since: by this visitor, or another. */
  of(kept: StoredResponse, now: number, isLed: boolean): string | undefined {
    const wasThere = kept.storedAt < now
    // It was asked in vain, and what is stale covers that.
    if (wasThere) return isLed ? this.#status?.fwd('stale') : this.hit(kept.freshUntil, now)
    return this.#status?.fwd('miss', isLed ? { stored: true } : { collapsed: true })
  }

  /** What is added to an answer of the application. */
  additions(
    route: RouteRules,
    head: Head,
    reason: Forwarded,
    more?: { stored?: boolean; detail?: string },
  ): Fields {
    const status = this.#status?.fwd(reason, more)
    return {
      ...varyField(head.fields, route.vary),
      ...(status !== undefined && {
        'cache-status': appended(field(head.fields, 'cache-status'), status),
      }),
    }
  }

  refusal(status: 503 | 504, text: string): Answer {
    const own = this.#status?.fwd('miss')
    return textAnswer(status, text, {
      'retry-after': '1',
      ...(own !== undefined && { 'cache-status': own }),
    })
  }
}
