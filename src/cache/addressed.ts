/** Changes of entries by what they are named by: an address, many of them, a tag, or all there are. */
import type { Cache, InvalidateOptions, Resource } from '../api.ts'
import { BreakwaterError, describe } from '../core/errors.ts'
import type { Counters } from '../core/events.ts'
import type { Label } from '../core/labels.ts'
import type { Engine } from './engine.ts'
import { labelsFor } from './labels-for.ts'
import { listOf } from './list-of.ts'
import { resolveSettle } from './options.ts'
import { changeTags, type TagChange } from './tag-changes.ts'
import { change } from './write.ts'

type Verbs = 'invalidate' | 'invalidateMany' | 'expire' | 'expireMany' | 'clear' | 'expireAll'

export interface Addressing<Address> {
  keyFor(at: Address): string
  readonly counters: Counters
  /** What all entries are reached by. */
  readonly all: Label
  /** Of the definition; `undefined`: of the whole cache. */
  readonly name: string | undefined
}

export function addressed<Address>(
  engine: Engine,
  { keyFor, counters, all, name }: Addressing<Address>,
): Pick<Resource<Address, unknown>, Verbs> {
  const invalidate = async (keys: readonly string[], options?: InvalidateOptions): Promise<void> =>
    change(engine, keys, { what: 'invalidate', settleMs: resolveSettle(options) }, counters)
  const changeAll = async (what: 'invalidate' | 'expire'): Promise<void> => {
    await changeTags(engine, [all], { what, settleMs: 0 })
    engine.listeners.tell('invalidated', () => ({
      all: true,
      ...(name === undefined ? {} : { name }),
    }))
  }
  return {
    invalidate: async (at, options) => invalidate([keyFor(at)], options),
    invalidateMany: async (at, options) => invalidate(listOf(at).map(keyFor), options),
    expire: async (at) => change(engine, [keyFor(at)], { what: 'expire' }, counters),
    expireMany: async (at) => change(engine, listOf(at).map(keyFor), { what: 'expire' }, counters),
    clear: async () => changeAll('invalidate'),
    expireAll: async () => changeAll('expire'),
  }
}

export async function changeByTag(
  engine: Engine,
  given: Parameters<Cache['invalidateTags']>[0],
  how: TagChange,
): Promise<void> {
  if (typeof given !== 'string' && !Array.isArray(given)) {
    const text = `tags: expected a text or a list of texts, got ${describe(given)}`
    throw new BreakwaterError('INVALID_OPTION', text)
  }
  const tags = typeof given === 'string' ? [given] : [...(given as readonly string[])]
  const labels = labelsFor(tags, 'tags', Infinity)
  if (labels.length === 0) return
  await changeTags(engine, labels, how)
  engine.listeners.tell('invalidated', () => ({ tags }))
}
