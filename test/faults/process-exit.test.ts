// A cache keeps no process alive: not by a timer, not by its own connection, closed or not.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../workers/ends-by-itself.mjs', import.meta.url))

interface End {
  readonly code: number | null
  readonly output: string
  /** From its last word to its end; ioredis itself takes up to 2 s to end a connection. */
  readonly lingeredMs: number
}

function run(told: object): Promise<End> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, JSON.stringify(told)], { stdio: 'pipe' })
    let output = ''
    let doneAt = NaN
    const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
    const read = (bytes: Buffer): void => {
      output += bytes.toString()
      if (/^done$/m.test(output)) doneAt = performance.now()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output, lingeredMs: performance.now() - doneAt })
    })
  })
}

describe('T159 a script with a cache', () => {
  let server: RedisServer
  let proxy: TcpProxy
  beforeAll(async () => {
    server = await startRedisServer()
    proxy = await startTcpProxy(server.connection as { host: string; port: number })
  })
  afterAll(async () => {
    server.thaw()
    await proxy.close()
    await server.stop()
  })

  const expectEnded = (end: End): void => {
    expect(end).toMatchObject({ code: 0, output: 'done\n' })
    expect(end.lingeredMs).toBeLessThan(5_000)
  }

  for (const close of ['close', 'leave'] as const) {
    it.each(['alone', 'memory store', 'redis'])(
      `on %s ends by itself after ${close}`,
      async (how) => {
        expectEnded(await run({ how, close, connection: server.connection }))
      },
    )

    it(`whose Redis is not there ends by itself after ${close}`, async () => {
      expectEnded(await run({ how: 'redis', close, connection: { host: '127.0.0.1', port: 9 } }))
    })

    it(`whose Redis accepts and says nothing ends by itself after ${close}`, async () => {
      proxy.blackhole(true)
      expectEnded(await run({ how: 'redis', close, connection: proxy.connection }))
    })

    it(`whose Redis is frozen ends by itself after ${close}`, async () => {
      server.freeze()
      try {
        expectEnded(await run({ how: 'redis', close, connection: server.connection }))
      } finally {
        server.thaw()
      }
    })
  }
})
