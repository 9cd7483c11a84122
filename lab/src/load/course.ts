// How one endpoint does at this moment, for whoever looks on: what was sent and answered so far, and
// the p95 of the last second. A request that hangs shows at once, with its wait so far, and not only
// when somebody gives it up.

import type { EndpointNow } from './messages.ts'

const windowMs = 1000

interface Request {
  readonly intendedAt: number
}

export class Course {
  #sent = 0
  #done = 0
  #errors = 0
  readonly #waiting = new Set<Request>()
  #recent: { readonly at: number; readonly ms: number }[] = []

  sent(intendedAt: number): Request {
    const request = { intendedAt }
    this.#sent++
    this.#waiting.add(request)
    return request
  }

  answered(request: Request, outcome: { at: number; failed: boolean }): void {
    this.#waiting.delete(request)
    this.#done++
    if (outcome.failed) this.#errors++
    this.#recent.push({ at: outcome.at, ms: outcome.at - request.intendedAt })
  }

  now(at: number): EndpointNow {
    this.#recent = this.#recent.filter((answer) => answer.at > at - windowMs)
    const waits = [...this.#waiting].map(({ intendedAt }) => at - intendedAt)
    const times = [...this.#recent.map(({ ms }) => ms), ...waits].sort((a, b) => a - b)
    return {
      sent: this.#sent,
      done: this.#done,
      errors: this.#errors,
      p95: times[Math.ceil(times.length * 0.95) - 1],
    }
  }
}
