/** Every check of every server, one after the other, and then of all together. */
import type { Redis } from 'ioredis'
import { openAdmin } from 'breakwater/admin'
import type { Connection } from '../connect/client.ts'
import { storeOf, withConnection } from '../connect/open.ts'
import { Failure } from '../ending.ts'
import type { Settings } from '../settings.ts'
import { checkBus, checkConnections, checkOutputBuffers } from './connection-checks.ts'
import type { Finding } from './finding.ts'
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
  const servers = await serversOf(connection)
  const found: Finding[] = []
  const perServer: readonly ((server: ServerView) => Promise<Finding>)[] = [
    checkVersion,
    checkRole,
    (server) => checkPermissions(server, { namespace, keyPrefix }),
    checkScripting,
    checkMemory,
    checkEviction,
    checkPersistence,
    checkReplication,
    checkConnections,
    checkOutputBuffers,
    (server) => checkLatency(server, storeTimeoutMs),
    checkClock,
  ]
  for (const check of perServer) {
    for (const server of servers) {
      const finding = await check(server)
      found.push(servers.length === 1 ? finding : { ...finding, server: server.name })
    }
  }
  found.push(await checkBus(servers, namespace))
  if (connection.kind === 'cluster') found.push(await checkCluster(servers))
  if (connection.kind === 'sentinel') found.push(await checkSentinel(connection))
  if (namespace !== undefined) {
    const admin = openAdmin({ store: storeOf(connection, true), namespace })
    found.push(await checkProcesses(admin).finally(() => admin.close()))
  }
  return found
}

async function serversOf(connection: Connection): Promise<readonly ServerView[]> {
  if (connection.kind !== 'cluster') return [serverView('', connection.client)]
  const masters: readonly Redis[] = connection.client.nodes('master')
  // The cluster connects to each when it needs it.
  await Promise.all(masters.map((node) => node.ping()))
  return masters.map((node) => serverView(`${node.options.host}:${node.options.port}`, node))
}
