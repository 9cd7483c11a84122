// Keys of the user's by the master that their entries lie on.

import type { ClusterNode, RedisCluster } from '@breakwater/rig'
import { createLayout } from '../../src/redis/layout.ts'
import { slotOf } from '../../src/redis/slots.ts'

export interface KeyPlace {
  /** Default: `suite`. */
  readonly namespace?: string
  readonly keyPrefix?: string
  /** The entry's key of a user's key: `resource.key`. Default: the key itself. */
  readonly entry?: (key: string) => string
}

/** The slot of a key's entry. */
export function slotOfKey(key: string, place: KeyPlace = {}): number {
  const { namespace = 'suite', keyPrefix = '', entry = (name) => name } = place
  const layout = createLayout({ namespace, id: '', db: 0, keyPrefix })
  return slotOf(`${keyPrefix}${layout.frameKey(entry(key))}`)
}

/** `count` keys on each master, in any of its slots. */
export async function keysByMaster(
  cluster: RedisCluster,
  count: number,
  place: KeyPlace = {},
): Promise<ReadonlyMap<ClusterNode, readonly string[]>> {
  const byMaster = new Map<ClusterNode, string[]>()
  for (const master of await cluster.masters()) byMaster.set(master, [])
  for (let n = 0; [...byMaster.values()].some((keys) => keys.length < count); n += 1) {
    const key = `key-${n}`
    const keys = byMaster.get(await cluster.masterOf(slotOfKey(key, place)))
    if (keys !== undefined && keys.length < count) keys.push(key)
  }
  return byMaster
}

/** As many from each master in turn. */
export async function spreadKeys(
  cluster: RedisCluster,
  count: number,
  place: KeyPlace = {},
): Promise<readonly string[]> {
  const all = [...(await keysByMaster(cluster, Math.ceil(count / 3), place)).values()]
  return Array.from({ length: count }, (_, n) => all[n % all.length]![Math.floor(n / all.length)]!)
}

/** `count` keys whose entries lie in one slot. */
export function keysInSlot(slot: number, count: number, place: KeyPlace = {}): readonly string[] {
  const keys: string[] = []
  for (let n = 0; keys.length < count; n += 1) {
    if (slotOfKey(`key-${n}`, place) === slot) keys.push(`key-${n}`)
  }
  return keys
}
