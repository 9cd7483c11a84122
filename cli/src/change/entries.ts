/** `breakwater invalidate KEY…` and `breakwater expire KEY…`, as a cache itself does it. */
import type { Command } from 'commander'
import { byKey } from 'breakwater/admin'
import { withCache } from '../connect/open.ts'
import { addKeyOptions, keysGiven } from '../inspect/command.ts'
import { plain } from '../print/paint.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { settleOf } from './settle.ts'

interface Given {
  readonly resource?: string
  readonly resourceVersion?: string
  readonly arg?: string
  readonly settle?: string
}

type What = 'invalidate' | 'expire'

export function addInvalidate(program: Command): void {
  addKeyOptions(
    program
      .command('invalidate')
      .argument('[keys...]', 'what resource.key(arg) gives, or one-off keys')
      .description('make entries unusable, in every tier and process, loads in flight included'),
  )
    .option('--settle <duration>', 'the source may give old values for so long ("2s")')
    .addHelpText('after', examplesOf('invalidate'))
    .action(async (keys: string[], given: Given, command: Command) => {
      await change('invalidate', settingsOf(command), { keys, given })
    })
}

export function addExpire(program: Command): void {
  addKeyOptions(
    program
      .command('expire')
      .argument('[keys...]', 'what resource.key(arg) gives, or one-off keys')
      .description('make entries stale as of now: their stale windows begin'),
  )
    .addHelpText('after', examplesOf('expire'))
    .action(async (keys: string[], given: Given, command: Command) => {
      await change('expire', settingsOf(command), { keys, given })
    })
}

function examplesOf(what: What): string {
  return `
Examples:
  $ breakwater ${what} r:product:42 r:product:43 -n shop
  $ breakwater ${what} --resource product --arg 42 -n shop

Exit code: 0 Redis has taken it and told every process; 1 it has not.`
}

/** A text that may be the key of a definition or a one-off key is taken for both: neither stays. */
async function change(
  what: What,
  settings: Settings,
  { keys: named, given }: { keys: readonly string[]; given: Given },
): Promise<void> {
  const meant = keysGiven(named, given)
  const keys = meant.flat()
  const settle = settleOf(given.settle)
  await withCache(settings, async (cache) => {
    const { invalidateMany, expireMany } = byKey(cache)
    if (what === 'expire') await expireMany(keys)
    else await invalidateMany(keys, { settle })
  })
  const done = what === 'expire' ? 'expired' : 'invalidated'
  settings.out.result({ done, keys }, () =>
    meant.map(([likeliest]) => `${done} ${plain(likeliest)}`).join('\n'),
  )
}
