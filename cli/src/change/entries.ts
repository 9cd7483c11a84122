/** `breakwater invalidate KEY…` and `breakwater expire KEY…`, as a cache itself does it. */
import type { Command } from 'commander'
import { addKeyOptions, type KeyGiven } from '../inspect/command.ts'
import { namespaceOf, settingsOf } from '../settings.ts'

export interface ChangeGiven extends KeyGiven {
  readonly settle?: string
}

export type What = 'invalidate' | 'expire'

export function addInvalidate(program: Command): void {
  addKeyOptions(
    program
      .command('invalidate')
      .argument('[keys...]', 'what resource.key(arg) gives, or one-off keys')
      .description('make entries unusable, in every tier and process, loads in flight included'),
  )
    .option('--settle <duration>', 'the source may give old values for so long ("2s")')
    .addHelpText('after', examplesOf('invalidate'))
    .action(changing('invalidate'))
}

export function addExpire(program: Command): void {
  addKeyOptions(
    program
      .command('expire')
      .argument('[keys...]', 'what resource.key(arg) gives, or one-off keys')
      .description('make entries stale as of now: their stale windows begin'),
  )
    .addHelpText('after', examplesOf('expire'))
    .action(changing('expire'))
}

function examplesOf(what: What): string {
  return `
Examples:
  $ breakwater ${what} r:product:42 r:product:43 -n shop
  $ breakwater ${what} --resource product --arg 42 -n shop

Exit code: 0 Redis has taken it and told every process; 1 it has not.`
}

function changing(what: What) {
  return async (keys: readonly string[], given: ChangeGiven, command: Command): Promise<void> => {
    const settings = settingsOf(command)
    namespaceOf(settings)
    const { change } = await import('./change-entries.ts')
    await change(what, settings, { keys, given })
  }
}
