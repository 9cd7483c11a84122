// A process of test/workers/ends-when-told.mjs: asked over HTTP, told to end, looked at until it has.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { RedisServer } from '@breakwater/rig'

const script = fileURLToPath(new URL('../workers/ends-when-told.mjs', import.meta.url))

export interface Plan {
  readonly library: 'ioredis' | 'node-redis'
  readonly namespace: string
  /** `null`: its loads never end. */
  readonly loadMs: number | null
  readonly drainMs: number
  readonly closeMs: number
  readonly storeTimeout: number
}

export interface Ending {
  /** Status and text of the answer. */
  get(id: string): Promise<string>
  /** Resolves when its output has this line. */
  said(line: string): Promise<void>
  readonly output: string
  /** SIGTERM; how it has ended and how long that took. */
  end(): Promise<{ readonly code: number | null; readonly ms: number }>
}

export async function startEnding(server: RedisServer, plan: Plan): Promise<Ending> {
  const told = JSON.stringify({ ...plan, connection: server.connection })
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', script, told])
  let output = ''
  const looking = new Set<() => void>()
  const read = (bytes: Buffer): void => {
    output += bytes.toString()
    for (const look of looking) look()
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  // It must end by itself: this is for a test that has failed.
  const last = setTimeout(() => child.kill('SIGKILL'), 25_000)
  void ended.then(() => clearTimeout(last))

  const found = (line: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = line.exec(output)
        if (match === null) return
        looking.delete(look)
        resolve(match)
      }
      looking.add(look)
      look()
      void ended.then(() => reject(new Error(`ended before ${line}: ${output}`)))
    })
  const [, port] = await found(/^port (\d+)$/m)
  return {
    async get(id) {
      const response = await fetch(`http://127.0.0.1:${port}/${id}`)
      return `${response.status} ${await response.text()}`
    },
    said: async (line) => void (await found(new RegExp(`^${line}$`, 'm'))),
    get output() {
      return output
    },
    async end() {
      const from = performance.now()
      child.kill('SIGTERM')
      const code = await ended
      return { code, ms: performance.now() - from }
    },
  }
}
