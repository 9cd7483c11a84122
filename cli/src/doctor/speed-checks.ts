/** Scripts, round trips against `storeTimeout`, and clocks. */
import { performance } from 'node:perf_hooks'
import { duration } from '../print/units.ts'
import { problem, unknown, warning, well, type Finding } from './finding.ts'
import type { ServerView } from './server-view.ts'

const pings = 100
const scriptRuns = 50
/** So far apart two clocks may be, and nobody notices. */
const skewMs = 500

/** One that does as much as the script that takes a lease, and touches no key. */
const probe = "local t = redis.call('TIME') return { t[1], t[2] }"

export async function checkScripting(server: ServerView): Promise<Finding> {
  try {
    await server.call('EVAL', probe, 0)
    const { createHash } = await import('node:crypto')
    const sha1 = createHash('sha1').update(probe).digest('hex')
    const times = await timed(scriptRuns, () => server.call('EVALSHA', sha1, 0))
    return well('scripting', `EVALSHA works, median ${duration(times.median)}`)
  } catch (error) {
    return problem('scripting', {
      found: `EVALSHA is refused: ${(error as Error).message}`,
      why: 'leases and fences are scripts: without them there is no shared cache at all',
      change: 'grant +eval +evalsha, or use a service that has Lua scripts',
    })
  }
}

export async function checkLatency(server: ServerView, storeTimeoutMs: number): Promise<Finding> {
  const { median, p99 } = await timed(pings, () => server.call('PING'))
  const found = `PING: median ${duration(median)}, p99 ${duration(p99)}, of ${pings}`
  const limit = `storeTimeout is ${duration(storeTimeoutMs)}`
  if (p99 < storeTimeoutMs / 2) return well('latency', `${found}; ${limit}`)
  const of = {
    found: `${found}; ${limit}`,
    why: 'an operation that takes longer than storeTimeout counts as lost, and opens the breaker',
    change:
      'run the application near Redis; look at SLOWLOG GET and at who runs KEYS or big commands; ' +
      `or raise it: createCache({ storeTimeout: '${Math.ceil(p99 * 4)}ms' })`,
  }
  return median >= storeTimeoutMs ? problem('latency', of) : warning('latency', of)
}

/** Of this host, which should be one that the application runs on. */
export async function checkClock(server: ServerView): Promise<Finding> {
  try {
    const offsetMs = await offsetOf(server)
    const found = `${duration(Math.abs(offsetMs))} ${offsetMs < 0 ? 'behind' : 'ahead of'} this host`
    if (Math.abs(offsetMs) < skewMs) return well('clock', found)
    return warning('clock', {
      found,
      why: 'breakwater goes by Redis’s clock and corrects for it; logs, and other programs, do not',
      change: 'run NTP (chrony, systemd-timesyncd) on both hosts',
    })
  } catch (error) {
    return unknown('clock', `TIME is refused: ${(error as Error).message}`, 'grant +time')
  }
}

/** Redis’s time minus this host’s. */
export async function offsetOf(server: ServerView): Promise<number> {
  const offsets: { readonly roundTrip: number; readonly offset: number }[] = []
  for (let n = 0; n < 5; n++) {
    const sent = performance.now()
    const [seconds, micros] = (await server.call('TIME')) as readonly string[]
    const roundTrip = performance.now() - sent
    const then = performance.timeOrigin + sent + roundTrip / 2
    offsets.push({ roundTrip, offset: Number(seconds) * 1_000 + Number(micros) / 1_000 - then })
  }
  return offsets.toSorted((a, b) => a.roundTrip - b.roundTrip)[0]!.offset
}

async function timed(
  count: number,
  run: () => Promise<unknown>,
): Promise<{ readonly median: number; readonly p99: number }> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const begun = performance.now()
    await run()
    times.push(performance.now() - begun)
  }
  times.sort((a, b) => a - b)
  return { median: times[Math.floor(count / 2)]!, p99: times[Math.ceil(count * 0.99) - 1]! }
}
