/**
 * What stands before an application: each request is answered from what is kept, or led to the
 * application once, however many ask for the same at the time, in however many processes.
 *
 * A flight gives an answer for all, or the word that this one was for its own visitor alone
 * (hit-for-miss): then all who waited go to the application at once, side by side, and so does whoever
 * comes while the word is remembered. An answer that is not to be shared never enters the cache.
 *
 * Variants: an entry holds one answer with the request's fields that chose it. Who differs in them
 * looks one key further, which is made of the entry's `family`, so that with the entry all of them go.
 */
import type { Call, Resource } from '../api.ts'
import { BreakwaterError } from '../core/errors.ts'
import { newId } from '../new-id.ts'
import { addressOf, plainAddressOf } from './address.ts'
import { answerFrom } from './answer.ts'
import { parseCacheControl } from './cache-control.ts'
import type { Forwarded } from './cache-status.ts'
import { judge } from './judge.ts'
import { field, type Head, type HttpRequest } from './message.ts'
import { Purging } from './purging.ts'
import type { Recording } from './recording.ts'
import { PlainLines, rolesOf, type Roles } from './request-fields.ts'
import {
  responsesOf,
  type Ask,
  type Changes,
  type Dispatch,
  type Kept,
  type Pass,
} from './responses.ts'
import type { HttpRules, RouteRules } from './rules.ts'
import { SourceFailed } from './source-failed.ts'
import { Told } from './told.ts'
import { selectionOf } from './vary.ts'
import type { Visit } from './visit.ts'

const mostVariants = 3
const mostTries = 3

export class ResponseCache {
  readonly rules: HttpRules
  readonly purging: Purging
  readonly #roles: Roles
  readonly #plain: PlainLines
  readonly #told: Told
  readonly #responses: Resource<Ask, Kept>
  /** Marks whose answer has been found to be storable after all. */
  readonly #disproved = new WeakSet<Pass>()

  /** `refreshes`: visits come with a `dispatch`. */
  constructor(rules: HttpRules, refreshes: boolean) {
    this.rules = rules
    this.#roles = rolesOf(rules.credentials)
    this.#plain = new PlainLines(this.#roles)
    this.#told = new Told(rules)
    this.#responses = responsesOf(rules.cache, rules.name, refreshes)
    this.purging = new Purging(rules, this.#responses, this.#roles)
  }

  /** Answers the visit, now or later. Never throws, never rejects. */
  handle(visit: Visit, route: RouteRules, dispatch: Dispatch | undefined): void {
    const { request } = visit
    if (request.method === 'PURGE' && this.rules.purgeToken !== undefined) {
      void this.purging.byRequest(request, route).then((answer) => visit.answer(answer))
      return
    }
    const address =
      plainAddressOf(this.rules, route, this.#plain, request) ??
      addressOf(this.rules, route, this.#roles, request)
    if (typeof address === 'string') return this.#past(visit, route, address)
    const ask: Ask = {
      key: address.key,
      rules: this.rules,
      route,
      roles: this.#roles,
      request,
      address,
      dispatch,
      newFamily: newId,
      lead: (recording, changes) => this.#lead(visit, route, recording, changes),
      led: undefined,
      isAnswered: false,
    }
    if (address.isPlain) return void this.#answer(visit, ask, undefined)
    const wish = this.#wishOf(request)
    if (wish === 'kept' || request.fields['range'] !== undefined) {
      void this.#answerKept(visit, ask, wish === 'kept')
    } else void this.#answer(visit, ask, wish)
  }

  async #answer(visit: Visit, first: Ask, call: Call | undefined): Promise<void> {
    const now = this.rules.clock.now()
    let ask = first
    let variants = 0
    for (let tries = 1; ;) {
      let kept: Kept
      try {
        kept = await this.#responses.get(ask, call)
      } catch (error) {
        const isAgain =
          ask.led === undefined &&
          error instanceof SourceFailed &&
          error.failure === 'aborted' &&
          tries++ < mostTries
        if (isAgain) continue
        return this.#failed(visit, ask, error)
      }
      ask.isAnswered = true
      const { led } = ask
      if (led?.isShown === true) return
      if (kept.type === 'pass')
        return led === undefined ? this.#pass(visit, ask, kept) : led.release()
      if (kept.vary.length > 0 && selectionOf(kept.vary, ask.address.fields) !== kept.selection) {
        // He has been to the application already, and what covers its failure is for others.
        if (led !== undefined) return led.release()
        if (++variants > mostVariants) return this.#past(visit, ask.route, 'bypass')
        ask = { ...ask, key: variantKey(ask, kept), isAnswered: false }
        continue
      }
      led?.detach()
      const status = this.#told.of(kept, now, led !== undefined)
      return visit.answer(
        answerFrom(visit.request, kept, {
          vary: ask.route.vary,
          status,
          now: this.rules.clock.now(),
          isPlain: ask.address.isPlain,
        }),
      )
    }
  }

  /** Only what is kept will do: a part of it, or what the visitor will not wait for. */
  async #answerKept(visit: Visit, first: Ask, isStrict: boolean): Promise<void> {
    let ask = first
    for (let variants = 0; variants <= mostVariants; variants++) {
      const peeked = await this.#responses.peek(ask).catch(() => undefined)
      if (peeked?.state !== 'fresh' || peeked.value.type === 'pass') break
      const kept = peeked.value
      if (kept.vary.length > 0 && selectionOf(kept.vary, ask.address.fields) !== kept.selection) {
        ask = { ...ask, key: variantKey(ask, kept) }
        continue
      }
      const now = this.rules.clock.now()
      const status = this.#told.hit(kept.freshUntil, now)
      return visit.answer(answerFrom(visit.request, kept, { vary: ask.route.vary, status, now }))
    }
    if (!isStrict) return this.#past(visit, ask.route, 'bypass')
    // RFC 9111, 5.2.1.7
    visit.answer(this.#told.refusal(504, 'Not in the cache, and the request wants nothing else.'))
  }

  /** What a request asks of caches (RFC 9111, 5.2.1): a wish, but for `only-if-cached`. */
  #wishOf({ fields }: HttpRequest): Call | 'kept' | undefined {
    const text = field(fields, 'cache-control')
    if (text === undefined) return undefined
    const directives = parseCacheControl(text)
    if (directives.has('only-if-cached')) return 'kept'
    if (!this.rules.obeysRequest) return undefined
    if (directives.has('no-cache')) return { maxAge: 0 }
    const age = directives.seconds('max-age')
    return age === undefined ? undefined : { maxAge: age * 1000 }
  }

  #lead(visit: Visit, route: RouteRules, recording: Recording, changes: Changes): void {
    visit.lead({
      recording,
      changes,
      additions: (head) => {
        const isStored = recording.isKeeping && Number(field(head.fields, 'content-length')) >= 0
        return this.#told.additions(route, head, 'miss', isStored ? { stored: true } : {})
      },
    })
  }

  /** Past the cache: nothing is kept of it, and a change that succeeds makes old what is kept (4.4). */
  #past(visit: Visit, route: RouteRules, reason: Forwarded): void {
    const { request } = visit
    let shown: Head | undefined
    visit.lead({
      recording: undefined,
      changes: undefined,
      additions: (head) => {
        shown = head
        if (reason === 'method') this.purging.afterChange(request, route, head)
        return this.#told.additions(route, head, reason)
      },
      // A change may be made behind its head, and be read in between as it was.
      ended: () => {
        if (reason === 'method' && shown) this.purging.afterChange(request, route, shown)
      },
    })
  }

  /** To the application, beside the others who ask for it. What could be kept after all is, from the next on. */
  #pass(visit: Visit, ask: Ask, mark: Pass): void {
    const { rules, route, address } = ask
    visit.lead({
      recording: undefined,
      changes: undefined,
      additions: (head) => {
        const judging = {
          rules,
          route,
          request: address.fields,
          previous: undefined,
          isAsked: false,
          isDetached: false,
          newFamily: newId,
        }
        const isStorable = judge(judging, head, rules.clock.now()).type === 'keep'
        if (isStorable && isLasting(mark.why) && !this.#disproved.has(mark)) {
          this.#disproved.add(mark)
          void this.#responses.invalidate(ask).catch(() => {})
        }
        return this.#told.additions(route, head, 'miss', { detail: mark.why })
      },
    })
  }

  #failed(visit: Visit, ask: Ask, error: unknown): void {
    // The application still answers, or has answered: that is the visitor's own.
    if (ask.led !== undefined) return ask.led.release()
    if (!(error instanceof BreakwaterError)) return this.#past(visit, ask.route, 'miss')
    switch (error.code) {
      case 'OVERLOADED':
        return visit.answer(this.#told.refusal(503, 'Too many requests wait for this.'))
      case 'LOAD_TIMEOUT':
      case 'WAIT_TIMEOUT':
        return visit.answer(this.#told.refusal(504, 'The answer took too long.'))
      default:
        return this.#past(visit, ask.route, 'miss')
    }
  }
}

/** What is learnt from a head alone says nothing of what comes after it: a body that was too long, or too slow. */
function isLasting(why: string): boolean {
  return why !== 'too-long' && why !== 'slow-body' && why !== 'late-cookie'
}

function variantKey(ask: Ask, kept: { vary: readonly string[]; family: string }): string {
  return `${ask.address.key} ~${kept.family} ${selectionOf(kept.vary, ask.address.fields)}`
}
