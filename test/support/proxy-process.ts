// `breakwater proxy` as a process of its own, from its first line on stderr to its end.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

export interface ProxyProcess {
  readonly child: ChildProcess
  readonly port: number
  readonly adminPort: number
  /** What it has written so far. */
  stdout(): string
  stderr(): string
  /** Resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** Rejects with what it says where it does not start. */
export async function proxyProcess(args: readonly string[]): Promise<ProxyProcess> {
  const { REDIS_URL: _, BREAKWATER_NAMESPACE: __, ...others } = process.env
  const free = ['--port', '0', '--host', '127.0.0.1', '--admin-port', '0']
  const child = spawn(process.execPath, [main, 'proxy', ...free, ...args], {
    env: others,
  })
  let [stdout, stderr] = ['', '']
  const ended = once(child, 'close').then(([code]) => code as number | null)
  child.stdout.on('data', (text: Buffer) => (stdout += text))
  const ready = new Promise<RegExpExecArray>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      stderr += text
      const line = /port (\d+) for .*metrics on [^:]+:(\d+)/.exec(stderr)
      if (line !== null) resolve(line)
    })
    void ended.then((code) => reject(new Error(`${code}: ${stderr}`)))
  })
  const [, port, adminPort] = await ready
  return {
    child,
    port: Number(port),
    adminPort: Number(adminPort),
    stdout: () => stdout,
    stderr: () => stderr,
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}
