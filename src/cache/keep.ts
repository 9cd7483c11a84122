/** Into memory, and out of it: what this process holds of an entry, and whether it may believe it. */
import { usesMemory, type Engine, type Source } from './engine.ts'
import { Entry, isAlive, type EntryInit } from './entry.ts'
import type { Label } from '../core/labels.ts'
import type { EntryRules } from './options.ts'

/** Roughly what an entry costs in memory beside its value. */
const overheadBytes = 400
const tagBytes = 40

/** An entry of this cache: its bounds in memory and its share of every draw are the cache's. */
export function newEntry(engine: Engine, rules: EntryRules, parts: EntryInit): Entry {
  const { memoryTtlMs, seed } = engine
  const { earlyRefresh, values } = rules
  return new Entry(parts, { memoryTtlMs, seed, earlyRefresh, values })
}

/** Keeps it, unless what is there is of a later load: an older one that ends later is no news. */
export function keep(engine: Engine, key: string, entry: Entry): void {
  if (engine.state !== 'open') return
  const held = engine.memory!.get(key)
  if (held !== undefined && held.startedAt > entry.startedAt) {
    if (isTrusted(engine, key, held, engine.clock.now())) return
  }
  let bytes = entry.size + key.length * 2 + overheadBytes
  for (const tag of entry.tags) bytes += tag.length + tagBytes
  engine.memory!.set(key, entry, bytes)
}

/** What memory has of it, unless a change by tag has made it unusable since. */
export function heldIn(engine: Engine, source: Source, key: string): Entry | undefined {
  if (!usesMemory(engine, source.rules)) return undefined
  const held = engine.memory!.get(key)
  // One-offs of one key may have other tags: what these say of the entry, nobody has looked at.
  if (held !== undefined && source.name === '' && !covers(held.tags, source)) return undefined
  if (held === undefined || holds(engine, source, held)) return held
  engine.memory!.delete(key)
  return undefined
}

function covers(tags: readonly Label[], { rules }: Source): boolean {
  return rules.tags.fixed.every((label) => tags.includes(label))
}

/** Has no change by tag made it unusable? One that has expired it is applied to it here. */
export function holds(engine: Engine, source: Source, entry: Entry): boolean {
  const { tags, hearing } = engine
  if (entry.tick === tags.tick) return true
  const { gone, expiredAt } = tags.changedSince(entry.tick, source.labels, entry.tags)
  if (gone) return false
  if (expiredAt < Infinity) {
    entry.expire(expiredAt - hearing.offsetMs)
    // With no window left, to expire is to invalidate.
    if (!isAlive(entry, engine.clock.now())) return false
  }
  entry.tick = tags.tick
  return true
}

/**
 * May it be taken at its word? Filled after the last gap in hearing, and heard from since; or kept
 * in an outage that still lasts.
 */
export function isTrusted(engine: Engine, key: string, entry: Entry, now: number): boolean {
  const { hearing } = engine
  if (entry.memoryUntil !== undefined && now >= entry.memoryUntil) return false
  const heard = entry.trust === hearing.trust && !hearing.isDeaf(now)
  if (entry.provisional === undefined) return heard
  return entry.provisional === hearing.outage && (heard || engine.store!.isDown(key))
}

/** Nothing has removed, replaced or changed it in memory since. */
export function isStillHeld(
  engine: Engine,
  source: Source,
  key: string,
  entry: Entry | undefined,
): boolean {
  return entry !== undefined && engine.memory!.get(key) === entry && holds(engine, source, entry)
}

/**
 * What memory has of a key, when the store cannot be asked: as stale as of when this process was
 * last sure of it, and used inside the user's windows only.
 */
export function lastResort(
  engine: Engine,
  key: string,
  entry: Entry | undefined,
  now: number,
): Entry | undefined {
  if (entry === undefined) return undefined
  if (!isTrusted(engine, key, entry, now)) {
    const { deafAt } = engine.hearing
    entry.expire(deafAt === -Infinity ? now : Math.min(now, deafAt))
  }
  return isAlive(entry, now) ? entry : undefined
}
