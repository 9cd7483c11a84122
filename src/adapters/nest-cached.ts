/** `@Cached({ ttl: '1m' })` on a method of any provider: one run for the same arguments, and its result kept. */
import { Inject } from '@nestjs/common'
import type { Cache, EntryOptions, Resource } from '../api.ts'

export interface CachedOptions extends EntryOptions<readonly unknown[], unknown> {
  /** Unique within the cache. Default: `Class.method`. */
  name?: string | undefined
  /** What of the arguments identifies the entry. Default: all of them. */
  // eslint-disable-next-line typescript/no-explicit-any -- the arguments of the method
  key?: ((...args: any[]) => unknown) | undefined
  /** Default: that of `HttpCacheModule`, which is injected. */
  cache?: Cache | undefined
}

export const cacheToken = Symbol('breakwater.cache')
const injected = '__breakwaterCache'
const injecting = new WeakSet<object>()

type Args = readonly unknown[]
// eslint-disable-next-line typescript/no-explicit-any -- whatever the method takes and gives
type Method = (...args: any[]) => Promise<any>

/** All instances of a class share what is kept: the state of one is no part of the key. */
export function Cached(options: CachedOptions = {}) {
  const { name: given, key, cache: own, ...entry } = options
  return (
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    const method = descriptor.value!
    const name = given ?? `${target.constructor.name}.${String(property)}`
    const resources = new WeakMap<Cache, Resource<Args, unknown>>()
    // Each call's own list, so that it says of which instance it was asked.
    const instances = new WeakMap<Args, object>()
    if (own === undefined && !injecting.has(target)) {
      injecting.add(target)
      Inject(cacheToken)(target, injected)
    }
    const resourceOf = (cache: Cache): Resource<Args, unknown> => {
      let resource = resources.get(cache)
      if (resource === undefined) {
        resource = cache.define<Args, unknown>({
          ...entry,
          name,
          key: (args) => (key === undefined ? args : key(...args)),
          load: (args) => Reflect.apply(method, instances.get(args), args) as unknown,
        }) as Resource<Args, unknown>
        resources.set(cache, resource)
      }
      return resource
    }
    const cached = function (this: { [injected]?: Cache }, ...args: unknown[]): Promise<unknown> {
      const cache = own ?? this[injected]
      if (cache === undefined) {
        throw new Error(`${name}: expected a cache, of HttpCacheModule or the option; got none`)
      }
      instances.set(args, this)
      return resourceOf(cache).get(args)
    }
    Object.defineProperty(cached, 'name', { value: method.name })
    // What decorators below this one have said of the method.
    for (const metadata of Reflect.getMetadataKeys(method)) {
      Reflect.defineMetadata(metadata, Reflect.getMetadata(metadata, method), cached)
    }
    descriptor.value = cached
  }
}
