/**
 * Which load a call is made in. A load made inside a load rides on its parent's place in the
 * limiter, so that parents holding every place cannot starve their children; and a call that could
 * only wait for itself is told so at once:
 *
 *   load A asks for B → A waits for B;  load B asks for A → B would wait for A, which waits for B.
 *
 * A loader that has ended counts no more: what it left behind is work of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { BreakwaterError } from '../core/errors.ts'

/** A load that is running, as the loads inside it see it. */
export interface Waitable {
  readonly key: string
  /** The cache that it is a load of. */
  readonly owner: object
  /** The load inside which it was begun. */
  readonly parent: Waitable | undefined
  /** Keys that are loaded in the same call. */
  readonly companions?: ReadonlySet<string> | undefined
  readonly over: boolean
  /** What the loader's own calls are waiting for now, and how many of them. */
  readonly waitsFor: Map<Waitable, number>
}

const current = new AsyncLocalStorage<Waitable>()
/** Running in this process, of all caches. */
let loads = 0

/** The load in whose loader this code runs. */
export function enclosing(): Waitable | undefined {
  return running(current.getStore())
}

function running(load: Waitable | undefined): Waitable | undefined {
  let at = load
  while (at?.over === true) at = at.parent
  return at
}

export function inside<T>(load: Waitable, run: () => T): T {
  loads++
  return current.run(load, run)
}

/**
 * The load is over. With the last one the storage is switched off: before Node 24 it makes every
 * promise of the process dearer for as long as it is on, and most of the time nothing is loading.
 */
export function outside(): void {
  if (--loads === 0) current.disable()
}

/** Is this load begun, directly or through others, inside a load of the same cache? */
export function ridesOn(owner: object, load: Waitable): boolean {
  for (let at = running(load.parent); at !== undefined; at = running(at.parent)) {
    if (at.owner === owner) return true
  }
  return false
}

/** Throws `CYCLE` where this code runs inside a load of the very entry that it asks for. */
export function refuseCycle(owner: object, key: string): void {
  for (let at = enclosing(); at !== undefined; at = running(at.parent)) {
    if (at.owner !== owner) continue
    if (at.key === key || at.companions?.has(key) === true) throw cycle(at.key, key)
  }
}

/** Notes that `from` waits for `target`; returns what ends that. Throws `CYCLE`. */
export function waitFor(from: Waitable, target: Waitable): () => void {
  if (reaches(target, from, new Set())) throw cycle(from.key, target.key)
  from.waitsFor.set(target, (from.waitsFor.get(target) ?? 0) + 1)
  return () => {
    const left = from.waitsFor.get(target)! - 1
    if (left === 0) from.waitsFor.delete(target)
    else from.waitsFor.set(target, left)
  }
}

function reaches(from: Waitable, to: Waitable, seen: Set<Waitable>): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  for (const next of from.waitsFor.keys()) if (reaches(next, to, seen)) return true
  return false
}

function cycle(from: string, to: string): BreakwaterError {
  const text = `the loader of ${from} asks for ${to}, which is being loaded for it`
  return new BreakwaterError('CYCLE', text, { key: to })
}

/** Runs later work in the context of now: background work must not keep a caller's context alive. */
export function thisContext(): <T>(run: () => T) => T {
  return AsyncLocalStorage.snapshot()
}
