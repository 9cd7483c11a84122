// The built command `breakwater` as a process of its own, as somebody on call runs it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Of `--json`. */
  json<T = Record<string, any>>(): T
}

const main = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

export interface RunHow {
  readonly env?: Readonly<Record<string, string>>
  /** What it is told on its standard input. */
  readonly input?: string
}

export function runCommand(
  args: readonly string[],
  { env = {}, input = '' }: RunHow = {},
): Promise<Ran> {
  const { REDIS_URL: _, BREAKWATER_NAMESPACE: __, ...others } = process.env
  const child = spawn(process.execPath, [main, ...args], { env: { ...others, ...env } })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text: Buffer) => (stdout += text))
  child.stderr.on('data', (text: Buffer) => (stderr += text))
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) })
    })
  })
}

/** The same with what all runs of a file share. */
export function commandWith(shared: () => readonly string[]) {
  return (...args: readonly string[]): Promise<Ran> => runCommand([...args, ...shared()])
}
