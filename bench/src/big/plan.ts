// What the coordinator and the process of one big value tell each other.

export const bigClients = ['ioredis 6', 'node-redis 6'] as const
export type BigClient = (typeof bigClients)[number]

export const bigKinds = ['buffer', 'pages'] as const
export type BigKind = (typeof bigKinds)[number]

/** `store`: load and store; `read`: by another process; `bare …`: the client alone; `touch`: memory. */
export type BigStep = 'store' | 'read' | 'set' | 'bare set' | 'bare get' | 'touch'

export interface BigPlan {
  readonly step: BigStep
  readonly client: BigClient
  readonly kind: BigKind
  readonly key: string
  readonly url: string
}

export interface BigResult {
  /** The longest that the event loop was held. */
  readonly heldMs: number
  readonly wallMs: number
  /** Where a look-up found it; `load` where it was not stored. */
  readonly tier: string | undefined
  readonly slow: readonly SlowEvent[]
  /** Other events of trouble, in words. */
  readonly trouble: readonly string[]
}

export interface SlowEvent {
  readonly name: string
  readonly operation: string
  readonly bytes: number
  readonly ms: number
}
