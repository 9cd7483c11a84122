// A shared guard that waits for others as briefly as a test can bear, on any client.

import { redisOptions } from '../../src/guard/guard-options.ts'
import type { RedisGuardOptions } from '../../src/guard/option-types.ts'
import { usualPace, type Pace } from '../../src/guard/pace.ts'
import { RedisGuard } from '../../src/guard/redis-guard.ts'
import type { RedisCommands } from '../../src/redis/commands.ts'
import { systemClock } from '../../src/system-clock.ts'

export const quickPace: Pace = {
  ...usualPace,
  pollMs: 40,
  graceMs: 1_000,
  noticeMs: 60,
  builderMs: 3_000,
  repeatMs: [300, 900],
  silenceMs: 200,
  retryMs: 100,
  beatMs: 100,
}

export type QuickOptions<Arg> = Partial<RedisGuardOptions<Arg>> & {
  client: object
  pace?: Partial<Pace>
  /** Replaces what is sent, or what comes back. */
  meddle?: (commands: RedisCommands) => RedisCommands
}

let made = 0

export function freshName(): string {
  made += 1
  return `guard-${made}`
}

export function quickGuard<Arg = string>({ pace, meddle, ...options }: QuickOptions<Arg>) {
  const wanted = redisOptions<Arg>({
    name: freshName(),
    capacity: 1_000,
    errorRate: 0.01,
    timeout: 5_000,
    ...options,
  })
  const { commands, subscribe } = wanted.connection
  const connection = { commands: meddle?.(commands) ?? commands, subscribe }
  return new RedisGuard<Arg>({ ...wanted, connection }, systemClock, { ...quickPace, ...pace })
}
