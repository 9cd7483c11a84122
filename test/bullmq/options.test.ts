// What is refused before any socket is opened, and the defaults that the types speak of.

import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bullmqPrecompute } from '../../src/bullmq/index.ts'
import { queueOptions } from '../../src/bullmq/queue-options.ts'
import { createCache } from '../../src/index.ts'

const connection = { port: 1 }

function cacheOf(options: object = {}) {
  const cache = createCache({ namespace: 'a', ttl: '1h', precompute: false, ...options })
  onTestFinished(() => cache.close())
  return cache
}

describe('bullmqPrecompute refuses', () => {
  it.each([
    ['cache', {}, 'bullmqPrecompute.cache: expected a cache that createCache() gave'],
    ['connection', 'localhost', 'bullmqPrecompute.connection: expected a client, or options'],
    ['queue', 'a:b', "bullmqPrecompute.queue: expected text without ':'"],
    ['prefix', '', 'bullmqPrecompute.prefix: expected text of 1 to 256 characters'],
    ['worker', 3, 'bullmqPrecompute.worker: expected a boolean, or an object, got 3'],
    ['worker', { concurrency: 0 }, 'worker.concurrency: expected a whole number of at least 1'],
    ['worker', { stalledAfter: 5 }, 'worker.stalledAfter: expected at least 1000 ms, got 5'],
    ['worker', { concurency: 5 }, 'did you mean bullmqPrecompute.worker.concurrency?'],
    ['attempts', 0, 'bullmqPrecompute.attempts: expected a whole number of at least 1, got 0'],
    ['backoff', { type: 'linear', delay: 5 }, "backoff.type: expected 'fixed' or 'exponential'"],
    ['backoff', { type: 'fixed' }, 'bullmqPrecompute.backoff.delay: expected'],
    ['keepFailed', -1, 'bullmqPrecompute.keepFailed: expected a whole number of at least 0'],
    ['atempts', 5, 'did you mean bullmqPrecompute.attempts?'],
  ])('%s: %j', (option, given, sentence) => {
    const options = { cache: cacheOf(), connection, [option]: given }
    expect(() => bullmqPrecompute(options as never)).toThrow(sentence)
  })

  it('a cache that makes its values itself, that keeps nothing, or that has a queue already', () => {
    expect(() => bullmqPrecompute({ cache: cacheOf({ precompute: true }), connection })).toThrow(
      'bullmqPrecompute.cache: expected a cache with precompute: false',
    )
    expect(() => bullmqPrecompute({ cache: cacheOf({ enabled: false }), connection })).toThrow(
      'with enabled: true',
    )
    const cache = cacheOf()
    bullmqPrecompute({ cache, connection })
    expect(() => bullmqPrecompute({ cache, connection })).toThrow(
      'expected one that no other queue makes ahead',
    )
  })

  it('a client of whose requests BullMQ could not wait for the answers', () => {
    const client = new Redis({ lazyConnect: true })
    expect(() => bullmqPrecompute({ cache: cacheOf(), connection: client })).toThrow(
      'bullmqPrecompute.connection: expected a client with maxRetriesPerRequest: null, which a worker needs, got 20',
    )
    const prefixed = new Redis({ lazyConnect: true, keyPrefix: 'a:', maxRetriesPerRequest: null })
    expect(() => bullmqPrecompute({ cache: cacheOf(), connection: prefixed })).toThrow(
      "expected a client without keyPrefix, which BullMQ does not take, got 'a:'",
    )
  })
})

describe('the defaults', () => {
  it('are those that the types and docs/bullmq.md say', () => {
    const { queue, prefix, worker, attempts, keepCompleted, keepFailed } = queueOptions({
      cache: cacheOf({ namespace: 'shop' }),
      connection,
    })
    expect({ queue, prefix, worker, attempts, keepCompleted, keepFailed }).toEqual({
      queue: 'refresh',
      prefix: '{breakwater:shop}',
      worker: { concurrency: 16, stalledAfterMs: 5_000 },
      attempts: undefined,
      keepCompleted: 100,
      keepFailed: 1_000,
    })
    const types = readFileSync(new URL('../../src/bullmq/option-types.ts', import.meta.url), 'utf8')
    const docs = readFileSync(new URL('../../docs/bullmq.md', import.meta.url), 'utf8')
    for (const text of [types, docs]) {
      expect(text).toContain("'refresh'")
      expect(text).toContain("'{breakwater:<namespace>}'")
      expect(text).toContain("{ concurrency: 16, stalledAfter: '5s' }")
      expect(text).toContain('`1_000`')
    }
  })
})
