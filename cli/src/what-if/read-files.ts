// Files that the scenario may come from: measured load times, and a trace of requests.

import { readFile } from 'node:fs/promises'
import type { LoadTimes } from './model/load-times.ts'
import { sharesOf, type Shares } from './model/popularity.ts'
import { expected } from './misuse.ts'

/** Milliseconds, separated by white space or commas; or a JSON array of them. */
export async function readLoadTimes(option: string, file: string): Promise<LoadTimes> {
  const words = (await read(option, file)).split(/[\s,[\]]+/).filter((word) => word !== '')
  const sortedMs = words.map(Number).sort((a, b) => a - b)
  const bad = words.find((word) => !(Number(word) >= 0 && Number(word) < Infinity))
  if (bad !== undefined) throw expected(option, `milliseconds in ${file}`, bad)
  if (sortedMs.length === 0) throw expected(option, `milliseconds in ${file}`, '')
  return { kind: 'measured', sortedMs }
}

export interface Trace {
  readonly shares: Shares
  readonly requestsPerSecond: number
}

/** A line per request: seconds, white space, the key. */
export async function readTrace(option: string, file: string): Promise<Trace> {
  const counts = new Map<string, number>()
  let first = Infinity
  let last = -Infinity
  let requests = 0
  for (const [n, line] of (await read(option, file)).split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, seconds = '', key = ''] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line) ?? []
    const at = seconds === '' ? NaN : Number(seconds)
    if (!Number.isFinite(at) || key === '') {
      throw expected(option, `'<seconds> <key>' in line ${n + 1} of ${file}`, line)
    }
    first = Math.min(first, at)
    last = Math.max(last, at)
    requests++
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  if (!(last > first)) throw expected(option, `requests over some time in ${file}`, `${requests}`)
  return { shares: sharesOf(counts.values()), requestsPerSecond: requests / (last - first) }
}

async function read(option: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw expected(option, 'a file that can be read', `${file}: ${error.message}`)
  })
}
