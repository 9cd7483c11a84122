// What a process holds when nothing is under way: heap, handles, listeners.

import type { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Resources } from './messages.ts'

type Emitters = Readonly<Record<string, Pick<EventEmitter, 'eventNames' | 'listenerCount'>>>

export async function resourcesOf(emitters: Emitters): Promise<Resources> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('expected --expose-gc')
  // What a collection finalizes is free after the next.
  for (let n = 0; n < 4; n += 1) {
    gc()
    await sleep(50)
  }
  gc()
  const active: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) active[kind] = (active[kind] ?? 0) + 1
  const listeners: Record<string, number> = {}
  for (const [name, emitter] of Object.entries(emitters)) {
    for (const event of emitter.eventNames()) {
      listeners[`${name} ${String(event)}`] = emitter.listenerCount(event)
    }
  }
  return { heapUsed: process.memoryUsage().heapUsed, active, listeners }
}
