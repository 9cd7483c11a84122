// Opens a session on a store the way a cache would, and keeps what it is told.

import { performance } from 'node:perf_hooks'
import type { BusMessage, Clock, Store, StorePort, StoreSession } from '../../src/ports.ts'

export interface Watched {
  readonly session: StoreSession
  readonly messages: BusMessage[]
  /** `up`, `down`, `ready`, `unready`, in order. */
  readonly states: string[]
  readonly faults: unknown[]
  /** Resolves when this is the present state of the bus, or of the client. */
  reaches(state: string): Promise<void>
}

export const realClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

let opened = 0

export function openSession(
  store: Store,
  { namespace = 'suite', clock = realClock }: { namespace?: string; clock?: Clock } = {},
): Watched {
  opened += 1
  const messages: BusMessage[] = []
  const states: string[] = []
  const faults: unknown[] = []
  const session = (store as StorePort).open({
    namespace,
    clock,
    id: `session-${opened}`.padEnd(14, '_'),
    onMessage: (message) => messages.push(message),
    onBus: (state) => states.push(state),
    onReady: (ready) => states.push(ready ? 'ready' : 'unready'),
    onFault: (error) => faults.push(error),
  })
  const reaches = (state: string) => {
    const kind = state === 'up' || state === 'down' ? ['up', 'down'] : ['ready', 'unready']
    return until(
      () => states.findLast((one) => kind.includes(one)) === state,
      () => `${state}, got ${states.join(', ')}`,
    )
  }
  return { session, messages, states, faults, reaches }
}

export async function until(holds: () => boolean, what: () => string = () => ''): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    if (holds()) return
    await sleep(10)
  }
  throw new Error(`expected within 10 s: ${what()}`)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
