/**
 * Changes by tag: made here, heard of, or brought by news. Entries are not looked for: each is held
 * against what is known (tags.ts) whenever it is used.
 */
import { BreakwaterError } from '../core/errors.ts'
import { everything, type Label } from '../core/labels.ts'
import { chunksOf } from '../core/parts-of.ts'
import type { BusMessage, EpochNews, EpochsRequest } from '../ports.ts'
import type { Engine } from './engine.ts'
import { closed } from './load.ts'
import type { Change } from './outbox.ts'
import type { Kind } from './tags.ts'

/** Where it is kept what is known of tags. */
export const atTags = undefined

/** As many labels as one script takes. */
const most = 500

export const kindOf: Readonly<Record<string, Kind>> = { invalidate: 'gone', expire: 'expired' }

/** What was read before is of before the change; what can be dropped at once is. */
function apply(engine: Engine, kind: Kind | 'settle', labels: readonly Label[]): void {
  engine.changes++
  if (kind !== 'settle') {
    engine.ahead?.changedByTag(labels)
    engine.verified?.note(labels, engine.clock.now())
  }
  if (kind === 'gone' && labels.includes(everything)) engine.memory?.clear()
}

/** So many changes were lost that nobody knows which: it was all. Their outbox holds it from now on. */
export function everythingIsGone(engine: Engine): void {
  const { tags, hearing } = engine
  tags.begin('gone', [everything], hearing.storeNow)
  engine.tagOutbox.missed([everything], 'invalidate')
  tags.end('gone', [everything])
  apply(engine, 'gone', [everything])
}

export interface TagChange {
  readonly what: Change
  /** How long the source may still give what is of before. */
  readonly settleMs: number
}

export async function changeTags(
  engine: Engine,
  labels: readonly Label[],
  change: TagChange,
): Promise<void> {
  if (engine.state !== 'open') throw closed('')
  const { what, settleMs } = change
  const { tags, hearing, store } = engine
  const kind = kindOf[what]!
  const now = hearing.storeNow
  tags.begin(kind, labels, now)
  if (settleMs > 0) tags.settle(labels, now + settleMs, now)
  apply(engine, kind, labels)
  if (store === undefined) return tags.end(kind, labels)
  const failed: unknown[] = []
  for (const some of chunksOf(labels, most)) {
    try {
      const id = engine.newToken()
      tags.sends(id)
      const bumped = await store.call('bump', atTags, (session) =>
        session.bump({ labels: some, kind, settleMs, id, known: tags.highest }),
      )
      tags.confirm(kind, some, bumped)
      if (settleMs > 0) tags.settle(some, bumped.until, now)
      engine.tagOutbox.taken(some, what)
    } catch (error) {
      engine.tagOutbox.missed(some, what)
      failed.push(error)
    }
    tags.end(kind, some)
    engine.changes++
  }
  if (failed.length === 0) return
  const { message, cause } = failed[0] as Error
  throw new BreakwaterError('STORE_UNAVAILABLE', message, { cause })
}

/** What one of our outboxes repeats. It was applied here when it was made. */
export async function redeliver(
  engine: Engine,
  labels: readonly Label[],
  what: Change,
): Promise<void> {
  const { tags } = engine
  const kind = kindOf[what]!
  const id = engine.newToken()
  await settleOn(engine, labels)
  tags.sends(id)
  const bumped = await engine.store!.evenSo('replay', atTags, (session) =>
    session.bump({ labels, kind, settleMs: 0, id, known: tags.highest }),
  )
  tags.confirm(kind, labels, bumped)
}

/** What was to settle and was not told, still is. */
export async function settleOn(engine: Engine, labels: readonly Label[]): Promise<void> {
  const { tags, hearing } = engine
  for (const label of labels) {
    const settleMs = tags.settlesFor(label, hearing.storeNow)
    if (settleMs === 0) continue
    const id = engine.newToken()
    const request = { labels: [label], kind: 'settle', settleMs, id, known: tags.highest } as const
    await engine.store!.evenSo('replay', atTags, (session) => session.bump(request))
  }
}

/** The entries of these keys, once loaded anew, are used no longer than until the source has settled. */
export async function settleKeys(
  engine: Engine,
  labels: readonly Label[],
  settleMs: number,
): Promise<void> {
  const { tags, hearing, store } = engine
  const now = hearing.storeNow
  tags.settle(labels, now + settleMs, now)
  if (store === undefined) return
  for (const some of chunksOf(labels, most)) {
    const id = engine.newToken()
    const request = { labels: some, kind: 'settle', settleMs, id, known: tags.highest } as const
    const { until } = await store.call('bump', atTags, (session) => session.bump(request))
    tags.settle(some, until, now)
  }
}

export function hearTags(engine: Engine, message: BusMessage & { type: 'bumped' }): void {
  const { tags, hearing } = engine
  const before = tags.tick
  tags.hear(message, hearing.storeNow)
  if (tags.tick !== before) apply(engine, message.kind, message.labels)
}

export function learn(
  engine: Engine,
  told: {
    readonly news: EpochNews
    readonly asked: EpochsRequest
    readonly subscription: number | undefined
  },
): void {
  const { tags } = engine
  const { news, asked, subscription } = told
  const before = tags.tick
  tags.take(news, asked)
  if (subscription !== undefined) tags.followed = subscription
  if (tags.tick !== before) engine.changes++
}

/**
 * `undefined`: what is known of tags is current. Else it is asked for, in the same turn as whatever
 * is read meanwhile; rejects where it cannot be had, and then nothing of the store is believed.
 */
export function currentTags(engine: Engine): Promise<void> | undefined {
  const { tags, hearing, clock, store } = engine
  if (store === undefined) return undefined
  if (tags.isCurrent(hearing.subscription) && hearing.hears(clock.now())) return undefined
  if (tags.asking !== undefined) return tags.asking
  tags.asking = askAbout(engine, [])
  // Whoever waits for it is told; nobody may wait by then.
  tags.asking.catch(() => {})
  queueMicrotask(() => (tags.asking = undefined))
  return tags.asking
}

/** What is known of these labels, exactly. All that is asked for in one turn is one question. */
export function lookUpTags(engine: Engine, labels: readonly Label[]): Promise<void> {
  const { tags } = engine
  if (tags.lookingUp === undefined) {
    const all = new Set<Label>()
    const answer = Promise.resolve().then(async () => {
      tags.lookingUp = undefined
      for (const some of chunksOf([...all], most)) await askAbout(engine, some)
    })
    tags.lookingUp = { labels: all, answer }
  }
  for (const label of labels) tags.lookingUp.labels.add(label)
  return tags.lookingUp.answer
}

async function askAbout(engine: Engine, labels: readonly Label[]): Promise<void> {
  const { tags, hearing } = engine
  const asked = tags.request(labels)
  const subscription = hearing.subscribed ? hearing.subscription : undefined
  const news = await engine.store!.call('epochs', atTags, (session) => session.epochs(asked))
  learn(engine, { news, asked, subscription })
}
