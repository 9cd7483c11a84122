/** How much room there is, and what goes when there is none. */
import { bytes } from '../print/units.ts'
import { problem, unknown, warning, well, type Finding } from './finding.ts'
import { numberIn, type ServerView } from './server-view.ts'

const almost = 0.9

export async function checkMemory(server: ServerView): Promise<Finding> {
  const [used, limit, system] = await Promise.all([
    numberIn(server, 'used_memory'),
    numberIn(server, 'maxmemory'),
    numberIn(server, 'total_system_memory'),
  ])
  if (Number.isNaN(used)) return unknown('memory', 'INFO is refused, or empty', 'grant +info')
  if (limit === 0) {
    const machine = Number.isNaN(system) ? '' : ` of ${bytes(system)} in the machine`
    return warning('memory', {
      found: `${bytes(used)} used${machine}, without a limit (maxmemory 0)`,
      why: 'it grows until the system ends it, and with it everything that it holds',
      change: `maxmemory ${limitFor(system)}\nmaxmemory-policy volatile-lru`,
    })
  }
  const found = `${bytes(used)} of ${bytes(limit)} used`
  if (used < limit * almost) return well('memory', found)
  return warning('memory', {
    found,
    why: 'the next entries push others out before their time, or are refused (OOM)',
    change: `maxmemory ${Math.ceil((limit * 1.5) / 1024 ** 2)}mb`,
  })
}

export async function checkEviction(server: ServerView): Promise<Finding> {
  const [policy, limit, evicted] = await Promise.all([
    server.info('maxmemory_policy'),
    numberIn(server, 'maxmemory'),
    numberIn(server, 'evicted_keys'),
  ])
  if (policy === undefined) {
    return unknown('eviction', 'INFO is refused, or empty', 'grant +info')
  }
  const so = evicted > 0 ? `; ${evicted} keys evicted since it started` : ''
  if (policy.startsWith('allkeys-')) {
    const of = {
      found: `${policy}${so}`,
      why:
        'the state of tags has no expiry and can be evicted: then every older entry is missing at once. ' +
        'Leases can be, too, which costs second loads',
      change: `maxmemory-policy ${policy.replace('allkeys-', 'volatile-')}`,
    }
    return limit === 0 ? warning('eviction', of) : problem('eviction', of)
  }
  if (policy === 'noeviction') {
    if (limit === 0) return well('eviction', 'noeviction, and no limit at which it would matter')
    return warning('eviction', {
      found: `noeviction${so}`,
      why: 'once memory is full every write is refused (OOM): no lease, nothing stored, tags rejected',
      change: 'maxmemory-policy volatile-lru',
    })
  }
  return well('eviction', `${policy}: entries go first, the state of tags stays${so}`)
}

function limitFor(system: number): string {
  return Number.isNaN(system) ? '1gb' : `${Math.max(64, Math.floor(system / 2 / 1024 ** 2))}mb`
}
