// The rig is what other tests trust: a server that outlives its test, or that answers while frozen,
// would make them lie.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { canStartServers, startRedisServer, type RedisServer } from '@breakwater/rig'
import { describe, expect, it } from 'vitest'

const worker = fileURLToPath(new URL('../workers/leaves-a-server.mjs', import.meta.url))

// With REDIS_URL alone there is no program to start, and a server of somebody else is not frozen.
describe.skipIf(!canStartServers()).each(['tcp', 'socket'] as const)('a server on %s', (listen) => {
  it('is silent while frozen, gone when killed, and back on the same address', async () => {
    const server = await startRedisServer({ listen })
    expect(await ask(server)).toBe('+PONG')
    server.freeze()
    expect(await ask(server)).toBe('silent')
    server.thaw()
    expect(await ask(server)).toBe('+PONG')
    const before = server.pid
    await server.kill()
    expect(await ask(server)).toBe('refused')
    await server.restart()
    expect(await ask(server)).toBe('+PONG')
    expect(server.pid).not.toBe(before)
    await server.stop()
    expect(await ask(server)).toBe('refused')
  })

  it('ends when the process that started it is killed, and leaves nothing on disk', async () => {
    const owner = spawn(process.execPath, [worker, listen], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(owner.stdout, 'data')) as [Buffer]
    const { pid, url } = JSON.parse(line.toString()) as { pid: number; url: string }
    expect(isAlive(pid)).toBe(true)
    owner.kill('SIGKILL')
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false)
    await expect.poll(() => existsSync(url), { timeout: 5_000 }).toBe(false)
  })
})

function ask({ connection }: RedisServer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(connection)
    const finish = (answer: string) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(300, () => finish('silent'))
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', (bytes) => finish(bytes.toString().trim()))
    socket.on('error', () => finish('refused'))
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
