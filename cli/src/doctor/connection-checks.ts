/** What a server does to connections, and whether messages between processes arrive. */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { bytes, duration } from '../print/units.ts'
import { permissionsOf } from 'breakwater/admin'
import { problem, unknown, warning, well, type Finding } from './finding.ts'
import { numberIn, type ServerView } from './server-view.ts'

/** As often as that a process sends a beat over each of its connections. */
const beatSeconds = 2
const leastBuffer = 1024 * 1024
const hearWithinMs = 2_000

export async function checkConnections(server: ServerView): Promise<Finding> {
  const [idle, keepalive, clients, most] = await Promise.all([
    server.config('timeout'),
    server.config('tcp-keepalive'),
    numberIn(server, 'connected_clients'),
    numberIn(server, 'maxclients'),
  ])
  if (Number.isNaN(clients)) {
    return unknown('connections', 'INFO is refused, or empty', 'grant +info')
  }
  const limit = Number.isNaN(most) ? '' : ` of ${most}`
  const found = `${clients}${limit} in use`
  if (clients > most * 0.8) {
    return warning('connections', {
      found,
      why: 'a process has two (in a cluster one per node, and one more); beyond the limit none connects',
      change: `maxclients ${most * 2}`,
    })
  }
  if (idle !== undefined && idle !== '0' && Number(idle) <= 5 * beatSeconds) {
    return warning('connections', {
      found: `${found}; idle ones are closed after ${idle} s (timeout)`,
      why: `the bus has something to send every ${beatSeconds} s; a pause would cut it`,
      change: 'timeout 0',
    })
  }
  if (keepalive === '0') {
    return warning('connections', {
      found: `${found}; tcp-keepalive 0`,
      why: 'connections of hosts that have vanished stay for ever, and count against maxclients',
      change: 'tcp-keepalive 300',
    })
  }
  return well('connections', found)
}

export async function checkOutputBuffers(server: ServerView): Promise<Finding> {
  const all = await server.config('client-output-buffer-limit')
  if (all === undefined) return unknown('output buffers', 'CONFIG GET is refused')
  const [, hard = '0', soft = '0', seconds = '0'] = /pubsub (\d+) (\d+) (\d+)/.exec(all) ?? []
  const limits = [hard, soft].map(Number).filter((limit) => limit > 0)
  const found = `pubsub ${bytes(Number(hard))} at once, ${bytes(Number(soft))} for ${seconds} s`
  if (limits.every((limit) => limit >= leastBuffer)) {
    return well('output buffers', limits.length === 0 ? 'pubsub without a limit' : found)
  }
  return warning('output buffers', {
    found,
    why: 'a burst of invalidations would cut off who listens, and its memory would not be believed',
    change: 'client-output-buffer-limit pubsub 32mb 8mb 60',
  })
}

/** From one connection to another, in a cluster through another server. */
export async function checkBus(
  [first, ...others]: readonly ServerView[],
  namespace: string | undefined,
): Promise<Finding> {
  const { probeChannel } = permissionsOf(namespace ?? 'breakwater-doctor')
  const channel = `${probeChannel}:${randomUUID()}`
  const how = { lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null }
  const ears = first!.client.duplicate(how)
  ears.on('error', () => {})
  try {
    await ears.connect()
    await ears.subscribe(channel)
    const last = others.at(-1) ?? first!
    const begun = performance.now()
    const heard = new Promise<boolean>((resolve) => {
      ears.once('message', () => resolve(true))
      setTimeout(() => resolve(false), hearWithinMs).unref()
    })
    await last.call('PUBLISH', channel, 'x')
    if (await heard)
      return well('bus', `a message arrived after ${duration(performance.now() - begun)}`)
    return problem('bus', {
      found: `a message was not heard within ${duration(hearWithinMs)}`,
      why: 'processes do not hear of changes elsewhere: memory is not believed, waiters poll',
      change: 'a proxy in between may not pass on PUBLISH and SUBSCRIBE: connect past it',
    })
  } catch (error) {
    const { message } = error as Error
    if (namespace === undefined && /channel/.test(message)) {
      return unknown(
        'bus',
        `${channel.split(':')[1]} is refused`,
        'give the cache’s --namespace NAME',
      )
    }
    return problem('bus', {
      found: message,
      why: 'processes do not hear of changes elsewhere: memory is not believed, waiters poll',
      change: `grant &bw:${namespace ?? '*'}:* +publish +subscribe +unsubscribe`,
    })
  } finally {
    ears.disconnect()
  }
}
