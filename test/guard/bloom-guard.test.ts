// The shared guard on BF.* filters. A server that has them is not at hand where these tests run, so
// they pretend (test/support/pretended-bloom.ts). With BREAKWATER_BLOOM_MODULE=/path/to/redisbloom.so
// they run against the module itself as well, by every client.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientsOf, majors, newestMajor } from '../support/ioredis-majors.ts'
import { guardRigs } from '../support/guard-rigs.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { until } from '../support/open-session.ts'
import { pretendedBloom } from '../support/pretended-bloom.ts'
import { freshName } from '../support/quick-guard.ts'
import { guardCases, ids, isReady, refusedOf, sharedGuardCases } from './guard-suite.ts'
import type { GuardRig } from './guard-suite.ts'

const bloomModule = process.env['BREAKWATER_BLOOM_MODULE'] ?? ''

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer({
    args: bloomModule === '' ? [] : ['--loadmodule', bloomModule],
  })
})
afterAll(() => server.stop())

const rigOf = guardRigs('bloom')

function lossCases(rig: () => GuardRig): void {
  it('refuses nothing any more when a filter is gone, and never makes it anew', async () => {
    const name = freshName()
    const guard = await rig().open({ name })
    await guard.rebuild(ids(0, 10))
    await isReady(guard)
    const keys = (await server.ask('KEYS', `*bw-guard:{${name}:*:0}`)) as string[]
    expect(keys).toHaveLength(1)
    await server.ask('DEL', ...keys)
    await guard.add('id-11')
    expect(await refusedOf(guard, ids(0, 30))).toEqual([])
    expect(guard.info()).toMatchObject({ kind: 'bloom', state: 'lost' })
    expect(await server.ask('EXISTS', ...keys)).toBe(0)
    await guard.rebuild(ids(0, 10))
    await until(() => guard.info().state === 'ready')
    expect((await refusedOf(guard, ids(50, 150))).length).toBeGreaterThan(80)
  })
}

describe.concurrent.each(newestMajor)('a shared guard on pretended BF.* filters', ({ Redis }) => {
  const clients = clientsOf(() => server, Redis)
  const rig = rigOf(() => clients.make(), { meddle: pretendedBloom })
  afterAll(() => clients.end())
  guardCases(() => rig)
  sharedGuardCases(() => rig)
  lossCases(() => rig)

  it('is made of bitmaps where a copy is asked for', async () => {
    const copied = rigOf(() => clients.make(), { meddle: pretendedBloom, replica: true })
    const guard = await copied.open()
    await guard.rebuild(ids(0, 10))
    await until(() => guard.know('nothing') === false)
    expect(guard.info().kind).toBe('bitmap')
  })
})

describe.runIf(bloomModule !== '').concurrent.each(majors)(
  'on BF.* filters by $major',
  ({ major, Redis }) => {
    const clients = clientsOf(() => server, Redis)
    const rig = rigOf(() => clients.make({ keyPrefix: `${major} `, enableAutoPipelining: true }))
    afterAll(() => clients.end())
    guardCases(() => rig)
    sharedGuardCases(() => rig)
    lossCases(() => rig)
  },
)

describe.runIf(bloomModule !== '').concurrent.each(usualFlavours)(
  'on BF.* filters by $flavour',
  (flavour) => {
    const clients = nodeRedisClients(flavour)
    const rig = rigOf(() => clients.make(server))
    afterAll(() => clients.end())
    guardCases(() => rig)
    sharedGuardCases(() => rig)
    lossCases(() => rig)
  },
)
