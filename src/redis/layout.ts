/**
 * Names in Redis: the keys of an entry, those of a namespace's tags, and the channels. The part
 * in braces is the hash tag: all keys of an entry lie in one slot, and nothing else fixes the layout. Channels know neither
 * key prefix nor database number, so both are in their names; the prefix, which may be any text,
 * comes last.
 */
import { escapeKey } from '../core/escape.ts'

export interface Layout {
  frameKey(key: string): string
  leaseKey(key: string): string
  /** Of a body that lies apart from its frame: scripts derive it from the frame's key. */
  bodyKey(key: string, id: string): string
  /** Epochs of tags, and what is settling: in one slot, where no entry can be. */
  readonly tagKeys: readonly string[]
  /** How many loads may begin now, in the whole fleet; in the same slot. */
  readonly tokensKey: string
  /** Everyone's of this namespace. */
  readonly channel: string
  /** This session's alone, for its beats and for what it has asked everyone. */
  readonly ownChannel: string
  /** Another session's own. */
  channelOf(id: string): string
}

export interface Place {
  readonly namespace: string
  readonly id: string
  readonly db: number
  readonly keyPrefix: string
}

export function createLayout({ namespace, id, db, keyPrefix }: Place): Layout {
  const start = `bw:${namespace}:{`
  // No key of a user's is escaped to a `%` before these letters.
  const own = `${start}${namespace}%tags}`
  const channelOf = (of: string): string => `bw:${namespace}:${db}@${of}:${keyPrefix}`
  return {
    frameKey: (key) => `${start}${hashTag(key)}}:v`,
    leaseKey: (key) => `${start}${hashTag(key)}}:l`,
    bodyKey: (key, id) => `${start}${hashTag(key)}}:b:${id}`,
    tagKeys: [`${own}:e`, `${own}:s`],
    tokensKey: `${own}:t`,
    channel: `bw:${namespace}:${db}:${keyPrefix}`,
    ownChannel: channelOf(id),
    channelOf,
  }
}

/** Redis hashes the whole key when the tag is empty. A `%` alone is no escape of anything. */
function hashTag(key: string): string {
  return key === '' ? '%' : escapeKey(key)
}
