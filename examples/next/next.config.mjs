import { fileURLToPath } from 'node:url'

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url))

export default {
  // Pages, route handlers, fetch and unstable_cache.
  cacheHandler: fileOf('./cache-handler.mjs'),
  // Functions and components marked 'use cache'.
  cacheHandlers: {
    default: fileOf('./use-cache-handler.mjs'),
    remote: fileOf('./use-cache-handler.mjs'),
  },
  // Next.js's own cache in memory: breakwater has one, which hears of changes.
  cacheMaxMemorySize: 0,
  experimental: { useCache: true },
  turbopack: { root: fileOf('../..') },
}
