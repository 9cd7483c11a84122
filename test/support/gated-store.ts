// One process's way to a store, every part of which can be stopped: requests before they are done,
// replies after, messages, the bus as a whole; and operations can fail before or after they were
// done. The epochs of tags are kept beside the store, so that a test can lose them.

import {
  port,
  type BumpRequest,
  type BusMessage,
  type EpochsRequest,
  type Store,
  type StorePort,
  type StoreScope,
  type StoreSession,
} from '../../src/ports.ts'
import type { SmallTags } from './small-tags.ts'

export const gatedOperations = [
  'read', 'readMany', 'acquire', 'publish', 'touch', 'renew', 'release', 'fail', 'invalidate', 'expire', 'write',
  'epochs', 'bump', 'tokens', 'beat',
] as const // prettier-ignore
export type Gated = (typeof gatedOperations)[number]

/** All processes of one namespace share it. */
export interface Common {
  readonly inner: Store
  readonly tags: SmallTags
  readonly scopes: Set<StoreScope>
  now(): number
}

export interface Hooks {
  /** The store has just done what it was asked for at `at`; what this returns is called when the process was told. */
  done?(operation: Gated, args: readonly unknown[], at: number): (() => void) | undefined
  /** A message is being sent; what this returns is called when it has been delivered. */
  sent?(message: BusMessage): (() => void) | undefined
}

export interface GatedStore extends Store {
  hold(what: 'requests' | 'replies', of: Gated): void
  release(what: 'requests' | 'replies', of: Gated): void
  releaseAll(): void
  holdBus(): void
  releaseBus(): void
  /** Messages are lost until it is regained; whether the process is told is up to `silently`. */
  loseBus(silently?: boolean): void
  regainBus(): void
  /** `before`: nothing is done. `after`: it is done, and the process is told that it failed. */
  failing: 'before' | 'after' | undefined
  asked(of: Gated): number
}

class Gate {
  #waiting: (() => void)[] | undefined

  close(): void {
    this.#waiting ??= []
  }

  open(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const go of waiting) go()
  }

  async pass(): Promise<void> {
    const waiting = this.#waiting
    if (waiting !== undefined) await new Promise<void>((resolve) => waiting.push(resolve))
  }
}

const gates = () => new Map(gatedOperations.map((name) => [name, new Gate()]))

export function gatedStore(common: Common, hooks: Hooks = {}): GatedStore {
  const { inner, tags, scopes } = common
  const ways = { requests: gates(), replies: gates() }
  const asked = new Map<Gated, number>()
  let heldMessages: (() => void)[] | undefined
  let lost = false
  let unnoticed = false
  let mine: StoreScope | undefined

  const open = (scope: StoreScope): StoreSession => {
    const onMessage = (message: BusMessage): void => {
      if (lost) return
      const delivered = hooks.sent?.(message)
      const deliver = (): void => {
        scope.onMessage(message)
        delivered?.()
      }
      if (heldMessages === undefined) deliver()
      else heldMessages.push(deliver)
    }
    mine = { ...scope, onMessage }
    scopes.add(mine)
    const session = (inner as StorePort).open(mine)
    const run = (name: Gated, args: unknown[]): unknown => {
      if (name === 'epochs') return tags.epochs(args[0] as EpochsRequest, common.now())
      if (name === 'bump') {
        const request = args[0] as BumpRequest
        const { id, kind, labels } = request
        const bumped = tags.bump(request, common.now())
        for (const each of scopes) {
          queueMicrotask(() => each.onMessage({ type: 'bumped', id, kind, labels, ...bumped }))
        }
        return bumped
      }
      if (name === 'beat') {
        const [n, request] = args as [number, EpochsRequest | undefined]
        const news = request && tags.epochs(request, common.now())
        return session.beat(n).then((beat) => ({ ...beat, news: Promise.resolve(news) }))
      }
      return (session[name] as (...given: unknown[]) => unknown).apply(session, args)
    }
    const wrapped = Object.create(session) as Record<string, unknown>
    for (const name of gatedOperations) {
      wrapped[name] = async (...args: unknown[]) => {
        asked.set(name, (asked.get(name) ?? 0) + 1)
        const at = common.now()
        await ways.requests.get(name)!.pass()
        if (store.failing === 'before') throw new Error(`${name} was told to fail`)
        const answer = run(name, args)
        const told = hooks.done?.(name, args, at)
        const result = await answer
        await ways.replies.get(name)!.pass()
        if (store.failing === 'after') throw new Error(`${name} was told to lose its reply`)
        // Only when what this sets off has come to rest has it been taken in.
        if (told !== undefined) setImmediate(told)
        return result
      }
    }
    wrapped['reconnect'] = (what: 'commands' | 'bus') => {
      if (what === 'bus') store.regainBus()
    }
    wrapped['close'] = () => {
      scopes.delete(mine!)
      return session.close()
    }
    return wrapped as unknown as StoreSession
  }

  const store: GatedStore & StorePort = {
    [port]: 'store',
    open,
    failing: undefined,
    hold: (what, of) => ways[what].get(of)!.close(),
    release: (what, of) => ways[what].get(of)!.open(),
    releaseAll: () => {
      for (const way of Object.values(ways)) for (const gate of way.values()) gate.open()
      store.releaseBus()
    },
    holdBus: () => {
      heldMessages ??= []
    },
    releaseBus: () => {
      const messages = heldMessages ?? []
      heldMessages = undefined
      for (const deliver of messages) deliver()
    },
    loseBus: (silently = false) => {
      if (lost) return
      lost = true
      unnoticed = silently
      if (!silently) mine?.onBus('down')
    },
    regainBus: () => {
      if (!lost) return
      lost = false
      // A subscription that was lost unnoticed ends, and another begins.
      if (unnoticed) mine?.onBus('down')
      mine?.onBus('up')
    },
    asked: (of) => asked.get(of) ?? 0,
  }
  return store
}
