/** `breakwater doctor`: asks a Redis all that a cache depends on, and says what to change. */
import type { Command } from 'commander'
import { numberOf, settingsOf } from '../settings.ts'

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the Redis that a cache is on, and say what to change')
    .option('--store-timeout <ms>', 'the cache’s storeTimeout', '100')
    .addHelpText('after', examples)
    .action(async (given: { storeTimeout: string }, command: Command) => {
      const settings = settingsOf(command)
      const within = { least: 1, most: 60_000 }
      const storeTimeoutMs = numberOf('--store-timeout', given.storeTimeout, within)
      const { doctor } = await import('./doctor.ts')
      await doctor(settings, storeTimeoutMs)
    })
}

const examples = `
Examples:
  $ breakwater doctor -n shop
  $ breakwater doctor --redis redis://app:password@host:6379 -n shop --json

As the user, and from the host, of the application: rights, latency and clock are theirs. It writes two keys
of its own, for ten seconds. In a cluster every master is checked.
Exit code: 1 there is a problem; 0 there is none (warnings are none).`
