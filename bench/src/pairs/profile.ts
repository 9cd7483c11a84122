// Where the time of a missed budget goes: the contender's own operation under V8's sampling profiler,
// by itself, and the samples told by file for breakwater and by package for the rest.

import { Session, type Profiler } from 'node:inspector/promises'
import type { Side } from './interleave.ts'

/** Share of the samples, from 0 to 1, by place. */
export type Shares = Readonly<Record<string, number>>

const profileMs = 1_500
const intervalUs = 200

export async function profile(side: Side): Promise<Shares> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: intervalUs })
  await side.run(100)
  await session.post('Profiler.start')
  for (const began = performance.now(); performance.now() - began < profileMs;) await side.run(100)
  const { profile: found } = await session.post('Profiler.stop')
  session.disconnect()
  return shares(found)
}

function shares({ nodes, samples = [] }: Profiler.Profile): Shares {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const counts: Record<string, number> = {}
  let busy = 0
  for (const id of samples) {
    const place = places.get(id) ?? 'unknown'
    if (place === '(idle)') continue
    counts[place] = (counts[place] ?? 0) + 1
    busy += 1
  }
  return Object.fromEntries(Object.entries(counts).map(([place, count]) => [place, count / busy]))
}

function placeOf({ url, functionName }: Profiler.Profile['nodes'][number]['callFrame']): string {
  const [, dependency] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
  if (dependency !== undefined) return dependency
  const [, workspace, path] = /(bench\/)?dist\/(.+)\.js$/.exec(url) ?? []
  if (path !== undefined) return workspace === undefined ? `breakwater: ${path}` : 'this benchmark'
  if (url.startsWith('node:')) return 'Node.js'
  return functionName.startsWith('(') ? functionName : 'built into V8'
}
