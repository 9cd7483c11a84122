// The guard that processes share, as bitmaps of one server, by every client; as copies; and through
// Redis's own Bloom filters in bloom-guard.test.ts.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientsOf, majors, newestMajor } from '../support/ioredis-majors.ts'
import { guardRigs } from '../support/guard-rigs.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { until } from '../support/open-session.ts'
import { freshName } from '../support/quick-guard.ts'
import { guardCases, sharedGuardCases } from './guard-suite.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

const rigOf = guardRigs('bitmap', 300)

describe.concurrent.each(majors)('a shared guard by $major', ({ major, Redis }) => {
  const clients = clientsOf(() => server, Redis)
  const rig = rigOf(() => clients.make({ keyPrefix: `${major} `, enableAutoPipelining: true }))
  afterAll(() => clients.end())
  // The adapter is the same for all of them: what one process does is told of the newest.
  if (major === newestMajor[0]?.major) guardCases(() => rig)
  sharedGuardCases(() => rig)
})

describe.concurrent.each(usualFlavours)('a shared guard by $flavour', (flavour) => {
  const clients = nodeRedisClients(flavour)
  const rig = rigOf(() => clients.make(server))
  afterAll(() => clients.end())
  if (flavour.major === 6) guardCases(() => rig)
  sharedGuardCases(() => rig)
})

describe.concurrent.each(newestMajor)('a shared guard with a copy by $major', ({ Redis }) => {
  const clients = clientsOf(() => server, Redis)
  const rig = rigOf(() => clients.make({ keyPrefix: 'copies:' }), { replica: true })
  afterAll(() => clients.end())
  guardCases(() => rig)
  sharedGuardCases(() => rig)

  it('answers at once, in the other process too', async () => {
    const name = freshName()
    const [a, b] = [await rig.open({ name }), await rig.open({ name })]
    await a.rebuild(['id-1', 'id-2'])
    await until(() => b.know('id-3') === false && a.know('id-3') === false)
    expect([a.know('id-1'), b.know('id-2')]).toEqual([true, true])
    await a.add('id-3')
    expect(a.know('id-3')).toBe(true)
    await until(() => b.know('id-3') === true)
    await a.rebuild(['id-1'])
    await until(() => b.know('id-2') === false)
    expect(b.know('id-1')).toBe(true)
  })
})
