// A process that has a shared guard with a copy, uses it, ends its client and nothing else.

import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { RedisServer } from '@breakwater/rig'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What it has printed, once it has ended by itself. */
export async function endsByItself(server: RedisServer): Promise<string> {
  const code = `
    import { Redis } from 'ioredis'
    import { redisGuard } from 'breakwater/guard'
    const client = new Redis(${JSON.stringify(server.connection)})
    const guard = redisGuard({ client, name: 'ending', capacity: 10, errorRate: 0.01, replica: true })
    const before = await guard.ask('b')
    await guard.rebuild(['a'])
    await guard.add('c')
    console.log(before && !(await guard.ask('b')) ? 'refused nothing, then something' : 'wrong')
    client.disconnect()`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--unhandled-rejections=strict', '--input-type=module', '-e', code],
    { cwd: root, timeout: 20_000 },
  )
  return stdout.trim()
}
