/**
 * The commands by a Sentinel client, which finds the master and moves to the next one by itself.
 * It lends out its connection: the first command of a turn takes it, and those that come before
 * that is settled wait for it to be given back, one round trip each. So the first goes alone, and
 * the rest of the turn joins it a moment later, before anything is written.
 */
import type { RedisCommands } from './commands.ts'
import type { SentinelClient, Word } from './node-redis-client.ts'
import { connectAtLast } from './node-redis-connection.ts'
import { asBytes, asText, keyedCommands } from './node-redis-keyed.ts'
import { listenTo } from './node-redis-listeners.ts'
import { keyPrefix } from './node-redis-prefix.ts'
import { nodeRedisServer } from './node-redis-server.ts'

export function sentinelCommands(client: SentinelClient, replicaReads: boolean): RedisCommands {
  const inTurn = firstAlone()
  let watched = false
  const send = (command: readonly Word[], options: object) =>
    inTurn(() => client.sendCommand(false, command, options))
  const read = (command: readonly Word[]) =>
    replicaReads ? client.sendCommand(true, command, asBytes) : send(command, asBytes)
  // It makes a new client for a node whose client has ended.
  const reconnect = (): void => {
    client._execute(false, async (node) => node.destroy()).catch(() => {})
  }
  const prefix = keyPrefix(client._keyPrefix)
  const isReady = (): boolean => client.isReady && client.getMasterNode() !== undefined
  return {
    ...keyedCommands(prefix, (_key, command, reads) =>
      reads ? read(command) : send(command, asBytes),
    ),
    // Which one its nodes' clients select cannot be seen: then databases share their channels.
    db: 0,
    fromReplica: replicaReads,
    get ready() {
      return isReady()
    },
    // As of one server's client.
    received: 0,
    reconnect,
    findMaster: reconnect,
    servers: () => {
      const master = client.getMasterNode()
      const name = master === undefined ? '' : `${master.host}:${master.port}`
      return [nodeRedisServer(name, { send, reconnect })]
    },
    mget: (keys) => read(['MGET', ...keys.map(prefix.key)]) as Promise<(Buffer | null)[]>,
    watch: (onReady) => {
      watched = true
      const end = watchMaster(client, isReady, onReady)
      return () => {
        watched = false
        end()
      }
    },
    connect: (onFault) => connectAtLast(client, () => watched, onFault),
  }
}

const events = ['ready', 'reconnecting', 'end', 'topology-change', 'error']

/** Version 5 tells when it has found a master, and not when it is connected to it: a PING does. */
function watchMaster(
  client: SentinelClient,
  isReady: () => boolean,
  onReady: (ready: boolean) => void,
): () => void {
  let ended = false
  let pinging = false
  let ready = isReady()
  const check = (): void => {
    if (ended || ready === isReady()) return
    ready = !ready
    onReady(ready)
  }
  const ping = (): void => {
    if (ready || pinging || !client.isOpen) return
    pinging = true
    const pinged = (): void => {
      pinging = false
      check()
    }
    client.sendCommand(false, ['PING'], asText).then(pinged, pinged)
  }
  const end = listenTo(client, events, () => {
    check()
    ping()
  })
  ping()
  return () => {
    ended = true
    end()
  }
}

function firstAlone(): <T>(send: () => Promise<T>) => Promise<T> {
  let waiting: (() => void)[] | undefined
  return (send) => {
    if (waiting !== undefined) {
      const rest = waiting
      return new Promise((resolve, reject) => {
        rest.push(() => void send().then(resolve, reject))
      })
    }
    const rest: (() => void)[] = (waiting = [])
    setImmediate(() => {
      waiting = undefined
      for (const sendNow of rest) sendNow()
    })
    return send()
  }
}
