// The buttons: what each is called, what it does, and when it cannot be pressed. The rules are here,
// apart from the hands that do the damage.

import type { Scene } from './scene.ts'

export const actionIds = [
  'kill-redis',
  'freeze-redis',
  'kill-holder',
  'slow-database',
  'write',
  'stop',
] as const
export type ActionId = (typeof actionIds)[number]

export const awayMs = 3000
export const slowMs = 8000
export const extraQueryMs = 1500

export const actions: Readonly<Record<ActionId, { label: string; explain: string }>> = {
  'kill-redis': {
    label: 'Kill Redis',
    explain: `SIGKILL: connections break and all is lost; it is back, empty, after ${seconds(awayMs)}`,
  },
  'freeze-redis': {
    label: 'Freeze Redis',
    explain: `SIGSTOP: connections stay open and nothing answers for ${seconds(awayMs)}`,
  },
  'kill-holder': {
    label: 'Kill the holder of the lease',
    explain: 'SIGKILL to the process that queries; if none does now, to the next one that does',
  },
  'slow-database': {
    label: 'Slow the database',
    explain: `the trending query takes ${seconds(extraQueryMs)} longer, for ${seconds(slowMs)}`,
  },
  write: {
    label: 'Write',
    explain: 'changes the data and invalidates: everybody has a cold key',
  },
  stop: { label: 'Stop', explain: 'ends free play' },
}

/** What the rules look at. */
export interface Circumstances {
  readonly mode: 'run' | 'play'
  readonly isOver: boolean
  readonly scene: Pick<Scene, 'kind' | 'contender'> | undefined
  /** `given`: they belong to the user. */
  readonly redis: 'private' | 'given' | undefined
  readonly database: 'private' | 'given'
  /** What is already under way. */
  readonly isRedisAway: boolean
  readonly isSlow: boolean
  readonly isHolderAwaited: boolean
}

/** Why a button cannot be pressed now; undefined: it can. */
export function whyNot(id: ActionId, now: Circumstances): string | undefined {
  if (now.isOver) return 'the run has ended'
  if (id === 'stop') return now.mode === 'play' ? undefined : 'Ctrl-C ends a run that measures'
  const never = neverHere(id, now)
  if (never !== undefined) return never
  if (now.scene === undefined) return 'nothing is under load just now'
  if (now.scene.kind === 'fault') return 'the lab breaks things itself now, and looks what happens'
  switch (id) {
    case 'kill-redis':
    case 'freeze-redis':
      return now.isRedisAway ? 'Redis is away already' : undefined
    case 'kill-holder':
      if (now.scene.contender === 'plain') return 'without protection nobody holds a lease'
      return now.isHolderAwaited ? 'the next holder will be killed' : undefined
    case 'slow-database':
      return now.isSlow ? 'it is slow already' : undefined
    case 'write':
      return undefined
  }
}

function neverHere(id: ActionId, { redis, database }: Circumstances): string | undefined {
  if (id === 'slow-database' || id === 'write') {
    return id === 'slow-database' && database === 'given'
      ? 'the database at DATABASE_URL is yours: the lab leaves it as it is'
      : undefined
  }
  if (redis === undefined) return 'there is no Redis, so each process has a cache of its own'
  if (id === 'kill-holder') return undefined
  return redis === 'given' ? 'the Redis at REDIS_URL is yours: the lab leaves it alone' : undefined
}

/** A figure and its unit stay on one line. */
function seconds(ms: number): string {
  return `${ms / 1000}\u00A0s`
}
