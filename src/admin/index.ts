/**
 * `breakwater/admin`: for tools that look into a cache from outside, such as the command `breakwater`.
 * A look changes nothing: it takes no lease, wakes nobody, and makes no state of a namespace. Changes
 * go through a cache (`byKey`), so that they are what they are everywhere.
 */
import type { Cache, Resource } from '../api.ts'
import { addressed } from '../cache/addressed.ts'
import { namespaceOf } from '../cache/cache-options.ts'
import { engineOf } from '../cache/companions.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { newCounters } from '../core/events.ts'
import { everything } from '../core/labels.ts'
import { newId } from '../new-id.ts'
import { port, type Codec, type CodecPort, type Store, type StorePort } from '../ports.ts'
import { systemClock } from '../system-clock.ts'
import { seeEntry } from './entry.ts'
import { Roll } from './roll.ts'
import type { EntrySeen, ProcessSeen, TagsSeen } from './seen.ts'
import { seeTags } from './tags.ts'

export interface AdminOptions {
  /** Made by `redisStore`. With `bus: false`, `processes` finds nobody. */
  store: Store
  namespace: string
  /** What values are decoded by, beside MessagePack and JSON: the cache's own codecs. */
  codecs?: readonly Codec[] | undefined
}

export interface Admin {
  /** By what `resource.key(arg)` or `keyOf` gives. */
  entry(key: string): Promise<EntrySeen>
  /** What was changed by tag: the newest `most`, 100 by default. */
  tags(most?: number): Promise<TagsSeen>
  /**
   * Asks all processes of the namespace to tell of themselves, and gives what came within `ms`. A
   * process answers once per half second, whoever asks.
   */
  processes(ms: number): Promise<readonly ProcessSeen[]>
  /** Never closes the user's client. */
  close(): Promise<void>
}

/** Opens a look into one namespace. Throws `INVALID_OPTION` where the store is not Redis. */
export function openAdmin({ store, namespace, codecs = [] }: AdminOptions): Admin {
  if (store?.[port] !== 'store') throw invalidOption('store', 'a store made by redisStore()', store)
  const roll = new Roll()
  const session = (store as StorePort).open({
    namespace: namespaceOf(namespace),
    clock: systemClock,
    id: newId(),
    onMessage: (message) => roll.hear(message),
    onBus: (state) => roll.onBus(state),
    onReady: () => {},
    onFault: () => {},
  })
  const { inspection } = session
  if (inspection === undefined) {
    throw invalidOption(
      'store',
      'a store made by redisStore(), which can be looked into',
      'another',
    )
  }
  return {
    entry: (key) => seeEntry({ session, inspection, codecs: codecs as readonly CodecPort[] }, key),
    tags: (most = 100) => seeTags(inspection, most),
    processes: (ms) => roll.call(session, ms),
    close: () => session.close(),
  }
}

/** Changes of entries by the keys that `resource.key(arg)` and `keyOf` give, in a cache's own way. */
export function byKey(
  cache: Cache,
): Pick<Resource<string, unknown>, 'invalidateMany' | 'expireMany'> {
  const engine = engineOf(cache)
  if (engine === undefined) {
    throw new BreakwaterError(
      'INVALID_OPTION',
      'cache: expected one made by createCache() of this package',
    )
  }
  const { invalidateMany, expireMany } = addressed<string>(engine, {
    keyFor: (key) => key,
    counters: newCounters(),
    all: everything,
    name: undefined,
  })
  return { invalidateMany, expireMany }
}

export { keyOf, keysOf, type KeyParts } from './keys.ts'
export { permissionsOf, type Permissions } from './permissions.ts'
export type {
  EntrySeen,
  FrameSeen,
  Freshness,
  LeaseSeen,
  ProcessSeen,
  TagChangeSeen,
  TagsSeen,
  ValueSeen,
} from './seen.ts'
