/**
 * The key prefix of node-redis (since 6.3). Its own methods add it and raw commands go out as they
 * are, so it is ours to add.
 */
import type { Word } from './node-redis-client.ts'

export interface KeyPrefix {
  /** Bytes as latin1, which loses none. */
  readonly text: string
  key(name: string): Word
}

export function keyPrefix(prefix: Word | undefined): KeyPrefix {
  if (prefix === undefined || prefix.length === 0) return { text: '', key: (name) => name }
  if (typeof prefix === 'string') return { text: prefix, key: (name) => prefix + name }
  return {
    text: prefix.toString('latin1'),
    key: (name) => Buffer.concat([prefix, Buffer.from(name)]),
  }
}
