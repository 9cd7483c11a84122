import { describe, expect, it, test } from 'vitest'
import { createCache, type BreakwaterError } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

const cache = createCache({ namespace: 'test', ttl: '1h', clock: manualClock() })
let count = 0
const valid = { every: '9m', args: ['a'], onMiss: 'load' }

function refusal(precompute: unknown, more: object = {}): string {
  const name = `d${count++}`
  try {
    cache.define({ name, load: (id: string) => id, precompute, ...more } as never)
  } catch (error) {
    expect((error as BreakwaterError).code).toBe('INVALID_OPTION')
    return (error as Error).message.replaceAll(`${name}.`, '')
  }
  return 'accepted'
}

describe('precompute is refused', () => {
  it.each([
    [{ ...valid, every: undefined }, 'precompute: expected either every or cron, got neither'],
    [{ ...valid, cron: '* * * * *' }, 'precompute: expected either every or cron, got both'],
    [{ ...valid, every: 'soon' }, 'precompute.every: expected'],
    [{ ...valid, every: 299 }, 'precompute.every: expected at least 300 ms, got 299'],
    [{ ...valid, every: NaN }, 'precompute.every: expected'],
    [{ ...valid, every: '9m', timezone: 'UTC' }, 'precompute.timezone: is only used with cron'],
    [
      { ...valid, every: undefined, cron: 7 },
      "precompute.cron: expected text such as '*/9 * * * *'",
    ],
    [
      { ...valid, args: 'a' },
      'precompute.args: expected a list, or a function that gives one, got "a"',
    ],
    [{ ...valid, args: new Set(['a']) }, 'precompute.args: expected a list, or a function'],
    [
      { ...valid, onMiss: undefined },
      "precompute.onMiss: expected 'load', 'wait' or 'placeholder'",
    ],
    [
      { ...valid, onMiss: 'placeholder' },
      'precompute.placeholder: expected a function of the argument',
    ],
    [
      { ...valid, placeholder: () => '' },
      "precompute.placeholder: is only used with onMiss 'placeholder', got 'load'",
    ],
    [
      { ...valid, alerts: { failures: 0 } },
      'precompute.alerts.failures: expected a whole number greater than 0',
    ],
    [{ ...valid, alerts: { late: -1 } }, 'precompute.alerts.late: expected'],
    [{ ...valid, alerts: { notify: 'me' } }, 'precompute.alerts.notify: expected a function'],
    [{ ...valid, alert: {} }, 'precompute.alert: unknown option, did you mean precompute.alerts?'],
    [{ ...valid, evry: '9m' }, 'precompute.evry: unknown option'],
    [null, 'precompute: expected an object'],
    [true, 'precompute: expected an object'],
  ])('%j: %s', (precompute, says) => {
    // prettier-ignore
    expect(refusal(precompute)).toContain(says)
  })

  it.each([
    [
      { ttl: '17m' },
      'ttl: expected at least 1080000 ms, so that an entry outlasts a refresh that is missed',
    ],
    [{ ttl: 0 }, 'ttl: expected at least 1080000 ms'],
    [{ jitter: 0.2 }, 'jitter: a precomputed entry has none'],
    [{ earlyRefresh: { beta: 2 } }, 'earlyRefresh: a precomputed entry has none'],
    [{ lease: '4m' }, 'lease: expected at most a third of the period (180000 ms), got 240000 ms'],
  ])('with %j: %s', (more, says) => {
    // prettier-ignore
    expect(refusal(valid, more)).toContain(says)
  })

  it.each([{ ttl: '18m' }, { jitter: 0 }, { earlyRefresh: false }, { lease: '3m' }, {}])(
    'and not with %j',
    (more) => expect(refusal(valid, more)).toBe('accepted'),
  )
})

test('a lease that only the cache has is cut to a third of the period', async () => {
  const { resolveCacheOptions, resolveDefinition } = await import('../../src/cache/options.ts')
  const { messagePack } = await import('../../src/codecs/msgpack.ts')
  const { compressions } = await import('../../src/compression/compressions.ts')
  const { cronSchedule } = await import('../../src/refresh/cron.ts')
  const { entry } = resolveCacheOptions(
    { namespace: 'test', ttl: '1h', lease: '30s', jitter: 0.5 },
    { codecs: [messagePack], compressions, clock: manualClock() },
  )
  const definition = { name: 'item', load: () => 1, precompute: { every: '6s', onMiss: 'load' } }
  const { rules } = resolveDefinition(entry, definition as never, cronSchedule)
  expect(rules).toMatchObject({ leaseMs: 2_000, jitter: 0, earlyRefresh: undefined })
})
