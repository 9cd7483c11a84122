/** What a server says of itself: version, role, persistence, replication. */
import { problem, unknown, warning, well, type Finding } from './finding.ts'
import { numberIn, type ServerView } from './server-view.ts'

const oldest = [6, 2] as const
const noInfo = 'INFO is refused, or empty'
const grantInfo = 'grant +info'

export async function checkVersion(server: ServerView): Promise<Finding> {
  const valkey = await server.info('valkey_version')
  if (valkey !== undefined) return well('version', `Valkey ${valkey}`)
  const version = await server.info('redis_version')
  if (version === undefined) return unknown('version', noInfo, grantInfo)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
  if (!isOld) return well('version', `Redis ${version}`)
  return problem('version', {
    found: `Redis ${version}`,
    why: 'tags need ZADD GT and ACLs need channels, which came with Redis 6.2',
    change: 'upgrade to Redis 6.2 or newer, or to Valkey',
  })
}

export async function checkRole(server: ServerView): Promise<Finding> {
  const role = await server.info('role')
  if (role === undefined) return unknown('role', noInfo, grantInfo)
  if (role === 'master') return well('role', 'takes writes')
  const host = await server.info('master_host')
  const port = await server.info('master_port')
  return problem('role', {
    found: `it is a replica of ${host}:${port}, and READONLY`,
    why: 'a replica takes no lease, no entry and no invalidation, and what it answers may be old',
    change: `connect to ${host}:${port}, or through Sentinel: redis+sentinel://host:26379/master-name`,
  })
}

export async function checkPersistence(server: ServerView): Promise<Finding> {
  const status = await server.info('rdb_last_bgsave_status')
  if (status === undefined) return unknown('persistence', noInfo, grantInfo)
  const [stops, save, aof] = await Promise.all([
    server.config('stop-writes-on-bgsave-error'),
    server.config('save'),
    server.info('aof_enabled'),
  ])
  const change =
    'stop-writes-on-bgsave-error no\n# or, where nothing else lives in this Redis:\nsave ""'
  if (status !== 'ok' && stops !== 'no') {
    return problem('persistence', {
      found: `the last save has failed (${status}), so that writes are refused (MISCONF)`,
      why: 'nothing is stored and no lease is granted: every process loads for itself',
      change: `see Redis’s log for why the save failed (disk full, no permission, fork refused)\n${change}`,
    })
  }
  if (stops === 'yes' && save !== undefined && save !== '') {
    return warning('persistence', {
      found: `saves to disk (save ${save}); a save that fails stops all writes`,
      why: 'a full disk would end the cache, which could do without the file',
      change,
    })
  }
  const kept = [
    save === undefined || save === '' ? undefined : 'RDB',
    aof === '1' ? 'AOF' : undefined,
  ]
  const names = kept.filter((one) => one !== undefined).join(' and ')
  return well(
    'persistence',
    names === '' ? 'nothing is kept on disk' : `${names}; writes go on when it fails`,
  )
}

export async function checkReplication(server: ServerView): Promise<Finding> {
  const replicas = await numberIn(server, 'connected_slaves')
  if (Number.isNaN(replicas)) return unknown('replication', noInfo, grantInfo)
  const least = Number((await server.config('min-replicas-to-write')) ?? 0)
  if (least > 0) {
    const good = await numberIn(server, 'min_slaves_good_slaves')
    const count = Number.isNaN(good) ? replicas : good
    const of = {
      found: `min-replicas-to-write ${least}, and ${count} are in touch`,
      why: 'without them every write is refused (NOREPLICAS): nothing is stored, no lease is granted',
      change: 'min-replicas-to-write 0',
    }
    return count < least ? problem('replication', of) : warning('replication', of)
  }
  return well('replication', `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`)
}
