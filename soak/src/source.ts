// The source of truth: versions that only grow, in a Redis of its own that nobody breaks. Loaders
// count themselves here, by key where somebody wants to know.

import { Redis } from 'ioredis'

export interface Source {
  version(name: string): Promise<number>
  versions(names: readonly string[]): Promise<number[]>
  /** A change of the source: what a cache has of it is outdated from here on. */
  change(name: string): Promise<number>
  loaded(key: string): Promise<void>
  loadsOf(key: string): Promise<number>
  end(): void
}

export function openSource(port: number): Source {
  const redis = new Redis({ host: '127.0.0.1', port })
  redis.on('error', () => {})
  return {
    version: async (name) => Number(await redis.get(`version:${name}`)),
    versions: async (names) =>
      (await redis.mget(names.map((name) => `version:${name}`))).map(Number),
    change: (name) => redis.incr(`version:${name}`),
    loaded: async (key) => void (await redis.incr(`loads:${key}`)),
    loadsOf: async (key) => Number(await redis.get(`loads:${key}`)),
    end: () => redis.disconnect(),
  }
}
