/** How many loads the source is given by this cache: at once, and per second with all others of its namespace. */
import { AdaptiveLimit } from '../core/adaptive-limit.ts'
import type { Tokens } from '../core/token-bucket.ts'
import { fixedPlaces, Limiter } from '../flight/limiter.ts'
import { Rate } from '../flight/rate.ts'
import type { TokensRequest } from '../ports.ts'
import type { CacheRules } from './options.ts'
import type { StoreAccess } from './store-access.ts'
import { atTags } from './tag-changes.ts'

export function limiterOf(
  { limit, clock, storeTimeoutMs }: CacheRules,
  to: {
    detached<T>(run: () => T): T
    /** Not there yet when this is made. */
    store(): StoreAccess | undefined
    onLimit(limit: number): void
  },
): Limiter {
  const { concurrency, queueMs, perSecond } = limit
  const rate =
    perSecond === undefined
      ? undefined
      : new Rate({
          clock,
          answerMs: storeTimeoutMs,
          perSecond,
          ask: (wanted) => fleetTokens(to.store(), { wanted, perSecond }),
          detached: to.detached,
          onTokens: () => limiter.next(),
        })
  const places =
    typeof concurrency === 'number' ? fixedPlaces(concurrency) : new AdaptiveLimit(concurrency)
  const limiter = new Limiter({ clock, queueMs, places, rate, onLimit: to.onLimit })
  return limiter
}

/** The bucket lies where the state of tags does. */
function fleetTokens(
  store: StoreAccess | undefined,
  request: TokensRequest,
): Promise<Tokens> | undefined {
  if (store === undefined || store.isDown(atTags)) return undefined
  return store.call('tokens', atTags, (session) => session.tokens(request))
}
