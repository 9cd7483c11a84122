// A fleet of real processes, by ioredis and by node-redis on one Redis behind a proxy, under load
// while each fault happens. Nobody who asks gets an error or what is older than was promised to it,
// every load has a lease or a counted reason, and 5 s later all is well. Longer, and at random:
// `npm run soak`.

import { faults, findings, Fleet, leaseMs, oneLoad } from '@breakwater/soak'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sleep } from '../support/open-session.ts'

const lastsMs = 700

/** What each is a case of. */
const traps: Readonly<Record<string, string>> = {
  'Redis frozen': 'T091 ',
  'Redis killed, and back empty': 'T093 T097 ',
  'connections refused': 'T090 ',
  'a black hole': 'T091 ',
  'SCRIPT FLUSH': 'T097 ',
  'maxmemory reached': 'T096 ',
  'leases evicted': 'T087 ',
  'the master made a replica under its connections': 'T094 ',
  'a failover behind one address': 'T099 ',
  'the holder of a lease stopped for longer than the lease': 'T084 ',
  'the holder of a lease killed': 'T079 T081 T082 ',
}

describe('a fleet by both clients', () => {
  let fleet: Fleet

  beforeAll(async () => {
    const clients = ['ioredis', 'node-redis', 'ioredis', 'node-redis'] as const
    fleet = await Fleet.start({ clients, seed: 1 })
    await fleet.load(100)
  })
  afterAll(() => fleet.end())

  // Whoever holds a lease is of one client; the same once more is of the other.
  const rows = faults.flatMap((fault) => {
    const both = fault.name.startsWith('the holder') ? ['', ', the other client'] : ['']
    return both.map((which) => ({ fault, name: `${traps[fault.name] ?? ''}${fault.name}${which}` }))
  })

  it.each(rows)(
    '$name: nobody is told an error or an older value, and all is well soon',
    async ({ fault }) => {
      const end = await fault.begin(fleet)
      await sleep(fault.leastMs ?? lastsMs)
      await end()
      expect(await fleet.okWithin(5_000)).toBeLessThan(5_000)
      expect(await oneLoad(fleet)).toEqual([])
      expect(await fleet.keysWithoutExpiry()).toEqual([])
      expect(findings(await fleet.figures())).toEqual([])
    },
  )

  it('what was promised holds when all is quiet again', async () => {
    await fleet.rest()
    await fleet.all((member) => member.order({ kind: 'keepPromises' }))
    expect(findings(await fleet.figures())).toEqual([])
    expect(leaseMs).toBeGreaterThan(lastsMs)
  })
})
