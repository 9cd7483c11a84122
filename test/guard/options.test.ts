// What guards refuse when they are made: with a sentence that names the option.

import { readFileSync } from 'node:fs'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { describe, expect, it } from 'vitest'
import { defaultTimeoutMs } from '../../src/guard/guard-options.ts'
import { memoryGuard, redisGuard } from '../../src/guard/index.ts'
import { usualPace } from '../../src/guard/pace.ts'

const client = new Redis({ lazyConnect: true })
const refused = (make: () => unknown) => {
  try {
    make()
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code} ${message}`
  }
  return 'accepted'
}
const memory = (options: object) =>
  refused(() => memoryGuard({ capacity: 1_000, errorRate: 0.01, ...options } as never))
const redis = (options: object) =>
  refused(() =>
    redisGuard({ client, name: 'ids', capacity: 1_000, errorRate: 0.01, ...options } as never),
  )

describe('a guard refuses', () => {
  it.each([0, -1, 1.5, NaN, Infinity, '1000', undefined])('a capacity of %s', (capacity) => {
    expect(memory({ capacity })).toMatch(/^INVALID_OPTION memoryGuard\.capacity: expected a whole/)
    expect(redis({ capacity })).toMatch(/^INVALID_OPTION redisGuard\.capacity: expected a whole/)
  })

  it.each([0, 1, -0.1, NaN, 2, '1%'])('an error rate of %s', (errorRate) => {
    expect(memory({ errorRate })).toMatch(
      /^INVALID_OPTION memoryGuard\.errorRate: expected a share/,
    )
  })

  it('T162 a name that nobody knows, with the nearest that somebody does', () => {
    expect(memory({ errorrate: 0.1 })).toContain('did you mean memoryGuard.errorRate?')
    expect(memory({ client })).toContain('memoryGuard.client: unknown option')
    expect(redis({ replicas: true })).toContain('did you mean redisGuard.replica?')
    expect(refused(() => memoryGuard(undefined as never))).toContain(
      'memoryGuard: expected an object',
    )
  })

  it.each(['', 'a b', 'a{b}', 'x'.repeat(65), 7])('%j as a name', (name) => {
    expect(redis({ name })).toMatch(/^INVALID_OPTION redisGuard\.name: expected 1 to 64 characters/)
  })

  it('other options of another kind', () => {
    expect(redis({ replica: 'yes' })).toContain('redisGuard.replica: expected a boolean')
    expect(redis({ timeout: 0 })).toContain(
      'redisGuard.timeout: expected a duration greater than 0',
    )
    expect(redis({ key: 'id' })).toContain('redisGuard.key: expected a function')
  })

  it('what is no client, and clients that read from replicas', () => {
    expect(redis({ client: undefined })).toContain('redisGuard.client: expected an ioredis')
    expect(redis({ client: {} })).toContain('redisGuard.client: expected an ioredis')
    const readOnly = new Redis({ lazyConnect: true, readOnly: true })
    expect(redis({ client: readOnly })).toContain('got one that reads from a replica')
    const scaled = new Cluster([{ port: 1 }], { lazyConnect: true, scaleReads: 'slave' })
    expect(redis({ client: scaled })).toBe('accepted') // asks masters all the same
    expect(redis({ client: createClient({ readonly: true }) })).toContain('reads from a replica')
    const cluster = createCluster({ rootNodes: [], useReplicas: true })
    expect(redis({ client: cluster })).toBe('accepted') // asks masters all the same
    const hiding = new Cluster([{ port: 1 }], { lazyConnect: true, keyPrefix: '{}:' })
    expect(redis({ client: hiding })).toContain('expected a key prefix that does not')
  })
})

describe('docs/guard.md', () => {
  const page = readFileSync(new URL('../../docs/guard.md', import.meta.url), 'utf8')

  it('says the defaults that hold', () => {
    expect(page).toContain(`| \`timeout\` | \`${defaultTimeoutMs}\` |`)
    const { noticeMs, repeatMs, writeMs } = usualPace
    expect(page).toContain(`waits ${noticeMs / 1_000} s, reads`)
    expect(page).toContain(`taken it within ${writeMs / 1_000} s`)
    expect(page).toContain(`additions after ${repeatMs.map((ms) => ms / 1_000).join(' and ')} s`)
  })

  it('describes a wait in which every process has read the record', () => {
    expect(usualPace.noticeMs).toBeGreaterThan(usualPace.pollMs * 1.25)
  })
})
