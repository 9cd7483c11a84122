// The private cluster and the private sentinels do what their names say: what the tests of clients
// on them stand on.

import { startRedisCluster, startRedisSentinel } from '@breakwater/rig'
import { describe, expect, it } from 'vitest'

describe('a private cluster', { timeout: 120_000 }, () => {
  it('serves every slot, moves one, and survives its masters', async () => {
    const cluster = await startRedisCluster({ password: 'secret' })
    const slot = await cluster.slotOf('a')
    const first = await cluster.masterOf(slot)
    const other = (await cluster.masters()).find((node) => node !== first)!
    expect(await cluster.masters()).toHaveLength(3)
    await first.ask('SET', 'a', '1')

    const move = await cluster.startSlotMove(slot, other)
    await expect(other.ask('GET', 'a')).rejects.toThrow(`MOVED ${slot} 127.0.0.1:${first.port}`)
    expect(await move.moveKeys()).toBe(0)
    await expect(first.ask('GET', 'a')).rejects.toThrow(`ASK ${slot} 127.0.0.1:${other.port}`)
    await move.finish()
    expect(await other.ask('GET', 'a')).toBe('1')

    await other.kill()
    const heir = await cluster.successorOf(other)
    expect(await heir.ask('GET', 'a')).toBe('1')
    await other.restart()
    await cluster.settled()
    expect(await cluster.replicasOf(heir)).toEqual([other])
    await cluster.failOver(other)
    expect(await cluster.masterOf(slot)).toBe(other)

    await Promise.all(cluster.nodes.map((node) => node.kill()))
    await Promise.all(cluster.nodes.map((node) => node.restart()))
    await cluster.settled()
    for (const node of cluster.nodes) expect(await node.ask('DBSIZE')).toBe(0)
    await cluster.stop()
    await expect(other.ask('PING')).rejects.toThrow('ECONNREFUSED')
  })
})

describe('private sentinels', { timeout: 120_000 }, () => {
  it('name another master when they are told to, and when it dies', async () => {
    const watched = await startRedisSentinel({ password: 'secret' })
    const [first] = watched.servers
    expect(await watched.master()).toBe(first)
    await first!.ask('SET', 'a', '1')
    const second = await watched.failOver()
    expect(await second.ask('GET', 'a')).toBe('1')
    await watched.settled()
    await second.kill()
    const third = await watched.successorOf(second)
    expect(await third.ask('GET', 'a')).toBe('1')
    await watched.stop()
    await expect(third.ask('PING')).rejects.toThrow('ECONNREFUSED')
  })
})
