/**
 * Who renders. The cache grants one load per key in the fleet; here it becomes one render: the loader
 * picks a `get` of this process that waits for the key, tells it that nothing is there (or that what
 * is there is stale), and waits for the `set`. All others get what that `set` brought.
 *
 * Invariant: a value is stored by the claim under which its render began, or by none, so that a tag
 * that changed meanwhile is not overlooked:
 *
 *   1. A is told to render, and reads old data.
 *   2. The tag is invalidated; B is told to render, and reads new data.
 *   3. B stores, then A: by A's own claim, which is of before the change, so it is not kept.
 *
 * A `get` and its `set` are matched by the async context that they share.
 */
import type { LoadContext } from '../api.ts'
import { enterAsked, findAsked, isPart } from './asked.ts'
import { Claim, type ClaimRules } from './claim.ts'
import { isOver, isUsable, type Kept, type Standing } from './kept.ts'
import { Slow } from './slow.ts'

/** `nothing`: render it. `stale`: serve it, and render it anew. */
export type Told = { readonly type: 'nothing' } | { readonly type: Standing; readonly kept: Kept }

export interface RenderRules extends ClaimRules {
  /** How long a `get` waits for the render of another. */
  readonly waitMs: number
  /** With a stale value in hand, so long until it is known who renders: this instance, or another. */
  readonly decidedMs: number
  /** What these renders ask for themselves is asked in a context that does not know of them. */
  readonly losesContext: boolean
}

export interface How {
  /** Nothing older, counted from the beginning of its render. */
  readonly maxAge?: number
  /** After so long what is stale will do. */
  readonly timeout?: number
}

interface Ask {
  /** False: what can be served is to be served, and somebody else renders (a prefetch). */
  readonly rendersStale: boolean
  /** From the cache. */
  read(how?: How): Promise<Kept>
}

interface Seeker {
  readonly rendersStale: boolean
  take(claim: Claim): void
}

const nothing: Told = { type: 'nothing' }

/** Renders under way whose parts do not know of them. */
const unknown = new Set<Claim>()

export class Renders {
  readonly #rules: RenderRules
  readonly #seekers = new Map<string, Set<Seeker>>()
  readonly #claims = new Map<string, Set<Claim>>()
  readonly #slow = new Slow()
  /** Keys that others render, as far as is known: for what is stale nobody waits to find that out. */
  readonly #elsewhere = new Set<string>()

  constructor(rules: RenderRules) {
    this.#rules = rules
  }

  /** The loader of every key. */
  load(key: string, ctx: LoadContext<Kept>): Promise<Kept> {
    const { previous } = ctx
    const usable = previous !== undefined && isUsable(previous.value, Date.now())
    const claim = new Claim(ctx, this.#rules, usable ? previous.value : undefined)
    add(this.#claims, key, claim)
    const over = (): void => {
      remove(this.#claims, key, claim)
      unknown.delete(claim)
    }
    claim.value.then(over, over)
    for (const seeker of this.#seekers.get(key) ?? []) {
      if (claim.previous !== undefined && !seeker.rendersStale) continue
      seeker.take(claim)
      break
    }
    return claim.value
  }

  /** Never rejects: what goes wrong means that the caller renders. Synchronous until its context is set. */
  ask(key: string, ask: Ask): Promise<Told> {
    const asked = enterAsked(this, key)
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const settle = (told: Told): void => {
        clearTimeout(timer)
        remove(this.#seekers, key, seeker)
        resolve(told)
      }
      const alone = (): void => {
        asked.render ??= 'alone'
        settle(nothing)
      }
      const seeker: Seeker = {
        rendersStale: ask.rendersStale,
        take: (claim) => {
          claim.take()
          if (this.#rules.losesContext) unknown.add(claim)
          asked.render = claim
          settle(claim.previous === undefined ? nothing : { type: 'stale', kept: claim.previous })
        },
      }
      const open = this.#openClaim(key, ask)
      if (open !== undefined) return seeker.take(open)
      add(this.#seekers, key, seeker)
      const giveUp = (): void => {
        this.#slow.add(key, this.#rules.renderMs)
        alone()
      }
      // Somebody else renders, it seems: what is stale will do, unless it became a part of what is
      // kept as fresh.
      const decided = (): void => {
        const { waitMs, decidedMs } = this.#rules
        timer = setTimeout(giveUp, this.#slow.has(key) ? decidedMs : waitMs).unref()
        if (isPart(asked)) return
        ask.read({ timeout: 1 }).then(
          (kept) => {
            if (asked.render !== undefined || !isUsable(kept, Date.now())) return
            const isStaleByTag = !isOver(kept, Date.now())
            if (unknown.size === 0 || !isStaleByTag) settle({ type: 'covered', kept })
          },
          () => {},
        )
      }
      const reading = usable(ask)
      reading.then((kept) => {
        if (asked.render !== undefined) return
        if (kept === undefined) alone()
        else settle({ type: 'fresh', kept })
      }, alone)
      if (this.#elsewhere.has(key) || firstTaken(this.#claims.get(key))) return decided()
      const findOut = (): void => {
        this.#elsewhere.add(key)
        const over = (): void => void this.#elsewhere.delete(key)
        reading.then(over, over)
        decided()
      }
      timer = setTimeout(findOut, this.#rules.decidedMs).unref()
    })
  }

  /** Whose render a `set` ends: to be asked at once, in the context of the caller. */
  ended(key: string): Ended {
    const asked = findAsked(this, key)
    if (asked?.render === 'alone') return { type: 'alone' }
    this.#slow.delete(key)
    // Where the context is lost: the oldest, to which no render can be too old but its own.
    const render = asked === undefined ? firstTaken(this.#claims.get(key)) : asked.render
    return render instanceof Claim ? { type: 'claim', claim: render } : { type: 'unasked' }
  }

  #openClaim(key: string, { rendersStale }: Ask): Claim | undefined {
    for (const claim of this.#claims.get(key) ?? []) {
      if (claim.isTaken || claim.isOver) continue
      if (rendersStale || claim.previous === undefined) return claim
    }
    return undefined
  }
}

/** `alone`: nothing is to be stored. `unasked`: nobody was told to render; Next.js does by itself. */
export type Ended =
  { readonly type: 'claim'; readonly claim: Claim } | { readonly type: 'alone' | 'unasked' }

/** What is past its `expire` is not for serving, whatever covers for whom. */
async function usable({ read }: Ask): Promise<Kept | undefined> {
  const kept = await read()
  if (isUsable(kept, Date.now())) return kept
  const younger = await read({ maxAge: kept.expire! * 1_000 })
  return isUsable(younger, Date.now()) ? younger : undefined
}

function firstTaken(claims: Iterable<Claim> = []): Claim | undefined {
  for (const claim of claims) if (claim.isTaken) return claim
  return undefined
}

function add<T>(to: Map<string, Set<T>>, key: string, item: T): void {
  const items = to.get(key)
  if (items === undefined) to.set(key, new Set([item]))
  else items.add(item)
}

function remove<T>(from: Map<string, Set<T>>, key: string, item: T): void {
  const items = from.get(key)
  if (items?.delete(item) === true && items.size === 0) from.delete(key)
}
