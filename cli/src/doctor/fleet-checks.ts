/** A cluster as a whole, the sentinels, and the processes of the cache. */
import { Redis } from 'ioredis'
import type { Admin } from 'breakwater/admin'
import type { Connection } from '../connect/client.ts'
import { duration } from '../print/units.ts'
import { problem, unknown, warning, well, type Finding } from './finding.ts'
import { offsetOf } from './speed-checks.ts'
import type { ServerView } from './server-view.ts'

const slotCount = 16_384
/** Between two masters: an entry is written by the clock of the one and judged by another’s. */
const skewMs = 500

export async function checkCluster(masters: readonly ServerView[]): Promise<Finding> {
  let infos: string[]
  try {
    infos = await Promise.all(masters.map(async (one) => String(await one.call('CLUSTER', 'INFO'))))
  } catch (error) {
    return unknown('cluster', (error as Error).message, 'grant +cluster|info')
  }
  // What one of them thinks may not have reached the others.
  const views = infos.map(viewOf)
  const served = Math.min(...views.map((one) => one.served))
  const found = `${masters.length} masters, ${served} of ${slotCount} slots served`
  const ill = views.find(({ state }) => state !== 'ok')
  if (ill !== undefined || served < slotCount) {
    return problem('cluster', {
      found: `${found}, state ${ill?.state ?? 'ok'}`,
      why: 'entries in the other slots are loaded and not stored; with cluster-require-full-coverage none are',
      change: 'redis-cli --cluster fix HOST:PORT\ncluster-require-full-coverage no',
    })
  }
  const offsets = await Promise.all(masters.map(offsetOf)).catch(() => [0])
  const apart = Math.max(...offsets) - Math.min(...offsets)
  if (apart > skewMs) {
    return warning('cluster', {
      found: `${found}; their clocks are ${duration(apart)} apart`,
      why: 'an entry is fresh for so much longer, or shorter, by which master is asked for the time',
      change: 'run NTP (chrony, systemd-timesyncd) on all of their hosts',
    })
  }
  const counts = await Promise.all(masters.map((one) => one.info('connected_slaves')))
  const alone = masters.filter((_, n) => counts[n] === '0').map(({ name }) => name)
  if (alone.length === 0) return well('cluster', found)
  return warning('cluster', {
    found: `${found}; without a replica: ${alone.join(', ')}`,
    why: 'when one of them goes, its share of the entries is loaded and not stored until it is back',
    change: 'redis-cli --cluster add-node NEW EXISTING --cluster-slave',
  })
}

function viewOf(info: string): { readonly state: string; readonly served: number } {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? ''
  const failed = Number(field('cluster_slots_fail')) + Number(field('cluster_slots_pfail'))
  return { state: field('cluster_state'), served: Number(field('cluster_slots_assigned')) - failed }
}

/** Asked of the first sentinel that answers. */
export async function checkSentinel({ address }: Connection): Promise<Finding> {
  if (address.type !== 'sentinel') return unknown('sentinel', 'not through Sentinel')
  const { name, nodes, sentinelUsername, sentinelPassword } = address
  let last = ''
  for (const node of nodes) {
    const sentinel = new Redis({
      ...node,
      lazyConnect: true,
      enableReadyCheck: false,
      connectTimeout: 1_000,
      retryStrategy: () => null,
      ...(sentinelUsername === undefined ? {} : { username: sentinelUsername }),
      ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
      ...(address.tls ? { tls: { rejectUnauthorized: false } } : {}),
    })
    sentinel.on('error', () => {})
    try {
      await sentinel.connect()
      return await judgeSentinel(sentinel, name)
    } catch (error) {
      last = (error as Error).message
    } finally {
      sentinel.disconnect()
    }
  }
  return unknown('sentinel', `none of them answers: ${last}`)
}

async function judgeSentinel(sentinel: Redis, name: string): Promise<Finding> {
  const flat = (await sentinel.call('SENTINEL', 'MASTER', name)) as readonly string[]
  const field = (of: string): string => flat[flat.indexOf(of) + 1] ?? ''
  const others = Number(field('num-other-sentinels'))
  const replicas = Number(field('num-slaves'))
  const quorum = Number(field('quorum'))
  const found = `${others + 1} sentinels, quorum ${quorum}, ${replicas} replicas`
  const usable = await sentinel.call('SENTINEL', 'CKQUORUM', name).then(
    () => true,
    () => false,
  )
  if (!usable || replicas === 0) {
    return problem('sentinel', {
      found: usable ? found : `${found}: not enough of them to agree`,
      why: 'when the master goes, nobody takes its place',
      change:
        replicas === 0
          ? 'add a replica: replicaof HOST PORT'
          : 'bring back the sentinels that are gone',
    })
  }
  if (others >= 2) return well('sentinel', found)
  return warning('sentinel', {
    found,
    why: 'with fewer than three, the loss of one host is the loss of the majority',
    change: 'run three or more, each on a host of its own',
  })
}

export async function checkProcesses(admin: Admin): Promise<Finding> {
  const all = await admin.processes(700)
  const silent = all.filter(({ bus, store }) => bus === 'silent' || store === 'down')
  if (all.length === 0) {
    return unknown('processes', 'none answers: no cache of this name runs, or none of this version')
  }
  const found = `${all.length} of this namespace answer`
  if (silent.length === 0) return well('processes', found)
  return warning('processes', {
    found: `${found}; degraded: ${silent.map(({ pid, host }) => `${pid} on ${host}`).join(', ')}`,
    why: 'they do not hear of changes, or cannot reach Redis, by what they say',
    change: 'look at their storeFailed, breaker and bus events',
  })
}
