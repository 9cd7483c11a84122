// The example application, built once, and instances of it as `next start` runs them: processes that
// end with the test, however that ends.

import { execFile, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('../../examples/next', import.meta.url))
const next = createRequire(`${folder}/`).resolve('next/dist/bin/next')
const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }

/** Without a Redis: there is none at this address. */
export async function buildApp(): Promise<string> {
  const env = { ...environment, REDIS_URL: 'redis://127.0.0.1:1' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [next, 'build', folder], {
    env,
    maxBuffer: 1e7,
  })
  return stdout + stderr
}

export interface App {
  readonly url: string
  /** What a page or a route handler says. */
  text(path: string): Promise<string>
  post(path: string): Promise<void>
  stop(): Promise<void>
}

/** Waits for the end of its stdin, which the kernel closes when we die. */
const keeper = '"$@" & pid=$!; read -r _; kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null'

export async function startApp(redis: string): Promise<App> {
  const start = [process.execPath, next, 'start', folder, '-p', '0', '-H', '127.0.0.1']
  const child = spawn('sh', ['-c', keeper, 'sh', ...start], {
    detached: true,
    env: { ...environment, REDIS_URL: redis },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8_000)
      const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1]
      if (found !== undefined && output.includes('Ready')) resolve(found)
    })
    void ended.then(() => reject(new Error(`next start has ended: ${output}`)))
  })
  const ask = async (path: string, method: string): Promise<string> => {
    const response = await fetch(url + path, { method, signal: AbortSignal.timeout(20_000) })
    const body = await response.text()
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`)
    return body
  }
  return {
    url,
    text: async (path) => {
      const body = await ask(path, 'GET')
      const [said] = /[\w ]+ by process \d+, query \d+/.exec(body) ?? []
      if (said === undefined) throw new Error(`${path}: expected what was asked for, got ${body}`)
      return said
    },
    post: async (path) => void (await ask(path, 'POST')),
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}
