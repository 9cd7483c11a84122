/**
 * What is done to Redis, to the network and to the processes. Each fault begins, lasts, ends; when
 * it has ended everything is to be well again within 5 s. What it does is done to what there is: the
 * master of now, the connections that stand.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './fleet.ts'
import { leaseMs } from './messages.ts'

export interface Fault {
  readonly name: string
  /** Returns what ends it. */
  begin(fleet: Fleet): Promise<() => unknown>
  /** Shorter would be another fault. */
  readonly leastMs?: number
}

const nothing = (): void => {}

export const faults: readonly Fault[] = [
  {
    name: 'Redis frozen',
    begin: async ({ master }) => {
      master.freeze()
      return () => master.thaw()
    },
  },
  {
    name: 'Redis killed, and back empty',
    begin: async ({ master }) => {
      await master.kill()
      return () => master.restart()
    },
  },
  {
    name: 'connections refused',
    begin: async ({ proxy }) => {
      await proxy.refuse(true)
      return () => proxy.refuse(false)
    },
  },
  {
    name: 'a black hole',
    begin: async ({ proxy }) => {
      proxy.blackhole(true)
      proxy.severSilently()
      return () => proxy.blackhole(false)
    },
  },
  {
    name: 'replies delayed beyond storeTimeout',
    begin: async ({ proxy }) => {
      proxy.latency(250)
      return () => proxy.latency(0)
    },
  },
  {
    name: 'connections reset',
    begin: async ({ proxy }) => {
      proxy.reset()
      return nothing
    },
  },
  {
    name: 'replies cut in their middle',
    begin: async ({ proxy }) => {
      proxy.cutMidReply()
      return nothing
    },
  },
  {
    name: 'CLIENT KILL',
    begin: async ({ master }) => {
      await master.ask('CLIENT', 'KILL', 'TYPE', 'normal')
      await master.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
      return nothing
    },
  },
  {
    name: 'SCRIPT FLUSH',
    begin: async ({ master }) => {
      await master.ask('SCRIPT', 'FLUSH')
      return nothing
    },
  },
  {
    name: 'CLIENT PAUSE',
    begin: async ({ master }) => {
      await master.ask('CLIENT', 'PAUSE', 600, 'ALL')
      return () => sleep(600)
    },
  },
  {
    name: 'CLIENT PAUSE of writes',
    begin: async ({ master }) => {
      await master.ask('CLIENT', 'PAUSE', 600, 'WRITE')
      return () => sleep(600)
    },
  },
  {
    name: 'maxmemory reached',
    begin: async ({ master }) => {
      await master.ask('CONFIG', 'SET', 'maxmemory', 1)
      return () => master.ask('CONFIG', 'SET', 'maxmemory', 0)
    },
  },
  {
    name: 'leases evicted',
    begin: async ({ master }) => {
      const script = `for _, key in ipairs(redis.call('KEYS', 'bw:*:l')) do redis.call('DEL', key) end`
      await master.ask('EVAL', script, 0)
      return nothing
    },
  },
  {
    name: 'the master made a replica under its connections',
    begin: async ({ master }) => {
      await master.ask('REPLICAOF', '127.0.0.1', 1)
      return () => master.ask('REPLICAOF', 'NO', 'ONE')
    },
  },
  { name: 'a failover behind one address', begin: failover },
  {
    name: 'the holder of a lease stopped for longer than the lease',
    begin: holderStopped,
    leastMs: 2 * leaseMs,
  },
  { name: 'the holder of a lease killed', begin: holderKilled },
]

/** The replica has what the master had, becomes one, and has its address. */
async function failover(fleet: Fleet): Promise<() => unknown> {
  const { master, other, proxy } = fleet
  await other.ask('REPLICAOF', '127.0.0.1', master.port)
  for (let n = 0; n < 200; n += 1) {
    if (String(await other.ask('INFO', 'replication')).includes('master_link_status:up')) break
    await sleep(25)
  }
  await master.kill()
  return async () => {
    await other.ask('REPLICAOF', 'NO', 'ONE')
    proxy.retarget({ host: '127.0.0.1', port: other.port })
    fleet.master = other
    fleet.other = master
    await master.restart()
  }
}

/** Whoever it is, of either client in turn. */
let turn = 0

async function holding(fleet: Fleet) {
  // The first two processes are never killed: what they hold is compared with their beginning.
  const able = fleet.members.slice(2)
  const holder = able[turn++ % able.length]
  if (holder === undefined) throw new Error('expected more than two processes')
  const key = `held-${turn}-${Date.now()}`
  const loading = new Promise<void>((resolve) => {
    holder.onLoading = (it) => {
      if (it === key) resolve()
    }
  })
  const own = holder.order({ kind: 'read', key, ms: leaseMs / 2 }).catch(nothing)
  await loading
  return { holder, key, own }
}

async function holderStopped(fleet: Fleet): Promise<() => unknown> {
  const { holder, own } = await holding(fleet)
  holder.stop()
  return async () => {
    holder.goOn()
    await own
  }
}

async function holderKilled(fleet: Fleet): Promise<() => unknown> {
  const { holder } = await holding(fleet)
  await holder.kill()
  return () => fleet.replace(holder)
}
