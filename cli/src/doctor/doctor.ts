/** Every check of every server, one after the other, and then of all together. */
import type { Redis } from 'ioredis'
import { unreachable, type Connection } from '../connect/client.ts'
import { withAdmin, withConnection } from '../connect/open.ts'
import { Failure } from '../ending.ts'
import type { Settings } from '../settings.ts'
import { checkBus, checkConnections, checkOutputBuffers } from './connection-checks.ts'
import { problem, unknown, type CheckName, type Finding } from './finding.ts'
import { checkCluster, checkProcesses, checkSentinel } from './fleet-checks.ts'
import { checkEviction, checkMemory } from './memory-checks.ts'
import { checkPermissions } from './permission-checks.ts'
import { checkPersistence, checkReplication, checkRole, checkVersion } from './server-checks.ts'
import { serverView, type ServerView } from './server-view.ts'
import { checkClock, checkLatency, checkScripting } from './speed-checks.ts'
import { findingsText } from './text.ts'

export async function doctor(settings: Settings, storeTimeoutMs: number): Promise<void> {
  const { out } = settings
  // The checks name whole keys, and the prefix with them.
  const { shown, kind, findings } = await withConnection(
    { ...settings, keyPrefix: '' },
    async (connection) => ({
      shown: connection.address.shown,
      kind: connection.kind,
      findings: await examine(connection, settings, storeTimeoutMs),
    }),
  )
  if (settings.namespace !== undefined) {
    const how = { bus: true, persists: false }
    findings.push(await unlessItThrows('processes', () => withAdmin(settings, checkProcesses, how)))
  }
  const count = (result: Finding['result']): number =>
    findings.filter((finding) => finding.result === result).length
  const problems = count('problem')
  out.result({ server: shown, kind, problems, warnings: count('warning'), findings }, () =>
    findingsText(findings, { paint: out.paint, title: `${shown} (${kinds[kind]})` }),
  )
  if (problems > 0) {
    throw new Failure(
      'found',
      problems === 1 ? 'there is a problem' : `there are ${problems} problems`,
    )
  }
}

const kinds = { one: 'one server', sentinel: 'through Sentinel', cluster: 'a cluster' } as const

/** One by one: a check must not slow down another that measures. */
async function examine(
  connection: Connection,
  settings: Settings,
  storeTimeoutMs: number,
): Promise<Finding[]> {
  const { namespace, keyPrefix } = settings
  const { servers, lost } = await serversOf(connection)
  const found: Finding[] = [...lost]
  const perServer: readonly (readonly [CheckName, (server: ServerView) => Promise<Finding>])[] = [
    ['version', checkVersion],
    ['role', checkRole],
    ['permissions', (server) => checkPermissions(server, { namespace, keyPrefix })],
    ['scripting', checkScripting],
    ['memory', checkMemory],
    ['eviction', checkEviction],
    ['persistence', checkPersistence],
    ['replication', checkReplication],
    ['connections', checkConnections],
    ['output buffers', checkOutputBuffers],
    ['latency', (server) => checkLatency(server, storeTimeoutMs)],
    ['clock', checkClock],
  ]
  for (const [name, check] of perServer) {
    for (const server of servers) {
      const finding = await unlessItThrows(name, () => check(server))
      found.push(connection.kind === 'cluster' ? { ...finding, server: server.name } : finding)
    }
  }
  found.push(await unlessItThrows('bus', () => checkBus(servers, namespace)))
  if (connection.kind === 'cluster') {
    found.push(await unlessItThrows('cluster', () => checkCluster(servers)))
  }
  if (connection.kind === 'sentinel') found.push(await checkSentinel(connection))
  return found
}

/** What cannot be asked is not known, and the other checks go on. */
async function unlessItThrows(name: CheckName, run: () => Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    return unknown(name, `it could not be asked: ${(error as Error).message}`)
  }
}

interface Servers {
  readonly servers: readonly ServerView[]
  readonly lost: readonly Finding[]
}

/** The masters that answer, and what is to be said of those that do not. */
async function serversOf(connection: Connection): Promise<Servers> {
  if (connection.kind !== 'cluster') {
    return { servers: [serverView('', connection.client)], lost: [] }
  }
  const servers: ServerView[] = []
  const lost: Finding[] = []
  // The cluster connects to each when it needs it.
  for (const node of connection.client.nodes('master') as readonly Redis[]) {
    const name = `${node.options.host}:${node.options.port}`
    try {
      await node.ping()
      servers.push(serverView(name, node))
    } catch (error) {
      const found = `it does not answer: ${(error as Error).message}`
      const why =
        'its share of the entries is loaded and not stored until it, or a replica, is there'
      const change = 'start it, or let a replica take its place: CLUSTER FAILOVER TAKEOVER'
      lost.push({ ...problem('role', { found, why, change }), server: name })
    }
  }
  if (servers.length === 0) throw unreachable(connection.address, new Error('no master answers'))
  return { servers, lost }
}
