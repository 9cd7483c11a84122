import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Redis } from 'ioredis'
import { quickGuard, freshName } from '../support/quick-guard.ts'
import { sleep } from '../support/open-session.ts'
let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())
it.each([false, true])('works with replica %s', async (replica) => {
  const client = new Redis({ ...server.connection })
  const name = freshName()
  const guard = quickGuard({ client, name, replica })
  const other = quickGuard({ client, name, replica })
  expect(await guard.ask('a')).toBe(true)
  const ids = Array.from({ length: 1000 }, (_, n) => `id-${n}`)
  await guard.rebuild(ids)
  console.log(
    guard.info(),
    await server.ask('KEYS', '*'),
    await server.ask('HGETALL', `bw-guard:{${name}}`),
  )
  await sleep(300)
  console.log(guard.know('nope'), guard.know('id-5'))
  for (const id of ids) expect(await other.ask(id)).toBe(true)
  let maybe = 0
  for (let n = 0; n < 1000; n++) if (await other.ask(`no-${n}`)) maybe++
  console.log('maybe', maybe, other.info())
  await guard.add('new')
  await sleep(20)
  expect(await other.ask('new')).toBe(true)
  await guard.rebuild(ids)
  expect(await other.ask('new')).toBe(true)
  await sleep(1000)
  console.log(other.info(), await server.ask('KEYS', '*'))
  await guard.close()
  await other.close()
  client.disconnect()
})
