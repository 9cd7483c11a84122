/** What other processes (and our own echo) tell, applied to this one. */
import type { BusMessage, Token } from '../ports.ts'
import type { Engine } from './engine.ts'
import { isAlive } from './entry.ts'
import { hearTags } from './tag-changes.ts'

/** What this process holds or is about to learn of the key is of before the change. */
export function outdate(engine: Engine, key: string, how: 'expired' | 'gone'): void {
  engine.changes++
  engine.looks.outdate(key)
  engine.flights.outdate(key, how)
  engine.waiters.rouse(key)
  engine.cooldowns.delete(key)
  engine.ahead?.changed(key)
  engine.verified?.note([key], engine.clock.now())
  const held = engine.memory?.get(key)
  if (held === undefined) return
  if (how === 'expired') {
    const now = engine.clock.now()
    held.expire(now)
    if (isAlive(held, now)) return
  }
  engine.memory!.delete(key)
}

export function heed(engine: Engine, message: BusMessage): void {
  apply(engine, message)
  engine.ahead?.heed(message)
}

function apply(engine: Engine, message: BusMessage): void {
  switch (message.type) {
    case 'beat':
      engine.hearing.heard(message.n, message.through)
      return
    case 'published':
    case 'failed':
    case 'released':
      engine.waiters.hear(message.key, message)
      return
    case 'wanted':
    case 'present':
      return
    case 'rollCall':
      engine.presence?.called(message.id)
      return
    case 'bumped':
      hearTags(engine, message)
      return
    case 'invalidated':
    case 'expired':
    case 'written':
      if (engine.echoes.isMine(message.id)) engine.waiters.hear(message.key, message)
      else {
        outdate(engine, message.key, message.type === 'expired' ? 'expired' : 'gone')
        const by = message.type === 'written' ? 'write' : 'change'
        engine.writes.outdate(message.key, message.id, by)
      }
  }
}

/**
 * Our own changes come back over the bus. Once confirmed they have been applied for good, and their
 * echo must not outdate what was begun since.
 */
export class Echoes {
  readonly #expected = new Map<Token, number>()

  expect(id: Token, messages: number): void {
    this.#expected.set(id, (this.#expected.get(id) ?? 0) + messages)
    if (this.#expected.size > 1_000) this.#expected.delete(this.#expected.keys().next().value!)
  }

  isMine(id: Token): boolean {
    const left = this.#expected.get(id)
    if (left === undefined) return false
    if (left === 1) this.#expected.delete(id)
    else this.#expected.set(id, left - 1)
    return true
  }
}
