/** One place in the limiter for many flights: it is free again when the last of them has left. */
import type { Place } from '../flight/limiter.ts'

/** `ended`: when what they load together has ended, wanted by anybody or not. */
export function sharedPlace(place: Place, shares: number, ended: Promise<void>): readonly Place[] {
  let left = shares
  let isAbandoned = false
  let forgetMs = 0
  return Array.from({ length: shares }, () => {
    let held = true
    const end = (): void => {
      if (!held) return
      held = false
      if (--left > 0) return
      if (isAbandoned) place.abandon(ended, forgetMs)
      else place.leave()
    }
    return {
      leave: end,
      abandon: (_, ms) => {
        isAbandoned = true
        forgetMs = ms
        end()
      },
    }
  })
}
