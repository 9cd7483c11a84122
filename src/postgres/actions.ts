/**
 * What a row change is turned into: plain records, made by the functions below and returned by the
 * user's mapping, so that a mapping is a pure function that can be tested without a database.
 */
import type { InvalidateOptions } from '../api.ts'

/** What of a definition is used here: any `Resource` is one. */
export interface Changeable<in Arg = never> {
  readonly name: string
  key(arg: Arg): string
  lookup(arg: Arg): Promise<unknown>
  invalidateMany(at: readonly Arg[], options?: InvalidateOptions): Promise<void>
  expireMany(at: readonly Arg[]): Promise<void>
  clear(): Promise<void>
}

export type KeyVerb = 'invalidate' | 'expire' | 'refresh'
export type TagVerb = 'invalidate' | 'expire'

/** Made by `invalidate`, `expire`, `refresh`, `invalidateTags`, `expireTags` and `invalidateAll`. */
export type ChangeAction =
  | {
      readonly of: 'key'
      readonly what: KeyVerb
      readonly target: Changeable
      readonly arg: unknown
    }
  | { readonly of: 'tags'; readonly what: TagVerb; readonly tags: readonly string[] }
  | { readonly of: 'all'; readonly target: Changeable }

/** A singleton has no argument. */
type ArgOf<Arg> = [Arg] extends [void] ? [] : [arg: Arg]

/** The entry is unusable from then on, as by `resource.invalidate(arg)`. */
export function invalidate<Arg>(resource: Changeable<Arg>, ...[arg]: ArgOf<Arg>): ChangeAction {
  return { of: 'key', what: 'invalidate', target: resource as Changeable, arg }
}

/** It is stale from then on, as by `resource.expire(arg)`. */
export function expire<Arg>(resource: Changeable<Arg>, ...[arg]: ArgOf<Arg>): ChangeAction {
  return { of: 'key', what: 'expire', target: resource as Changeable, arg }
}

/**
 * `expire`, and it is loaded at once by the process that captures, through the lease like any other
 * load. The load is best effort: when it fails or there are too many, the next reader loads.
 */
export function refresh<Arg>(resource: Changeable<Arg>, ...[arg]: ArgOf<Arg>): ChangeAction {
  return { of: 'key', what: 'refresh', target: resource as Changeable, arg }
}

/** As by `cache.invalidateTags(tags)`. */
export function invalidateTags(...tags: readonly string[]): ChangeAction {
  return { of: 'tags', what: 'invalidate', tags }
}

/** As by `cache.expireTags(tags)`. */
export function expireTags(...tags: readonly string[]): ChangeAction {
  return { of: 'tags', what: 'expire', tags }
}

/** All entries of the definition, as by `resource.clear()`. */
export function invalidateAll(resource: Changeable): ChangeAction {
  return { of: 'all', target: resource }
}
