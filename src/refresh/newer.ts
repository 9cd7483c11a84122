/**
 * Somebody has refreshed what this process has in memory: the newer value is fetched before anyone
 * asks for it, and the older one serves until it is there.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import { usesMemory, type Engine } from '../cache/engine.ts'
import type { Token } from '../ports.ts'

export function fetchNewer(
  engine: Engine,
  { source }: AheadDefinition,
  published: { readonly key: string; readonly token: Token },
): void {
  const { key, token } = published
  if (engine.state !== 'open' || !usesMemory(engine, source.rules)) return
  const held = engine.memory!.get(key)
  // Our own is kept by whoever has published it.
  if (held === undefined || held.stamp === token) return
  if (engine.store?.isUp(key) === true) void engine.looks.at(engine, source, key, held)
}
