/** `breakwater inspect KEY`: one entry, as it lies in Redis and as a reader would see it now. */
import type { Command } from 'commander'
import { namespaceOf, settingsOf } from '../settings.ts'

/** Instead of a key. */
export interface KeyGiven {
  readonly resource?: string
  readonly resourceVersion?: string
  readonly arg?: string
}

export interface InspectGiven extends KeyGiven {
  readonly value: boolean
  readonly full?: boolean
}

export function addInspect(program: Command): void {
  addKeyOptions(
    program
      .command('inspect')
      .argument('[key]', 'what resource.key(arg) gives, or a one-off key')
      .description('one entry: state, ages, size, codec, lease and value'),
  )
    .option('--full', 'the whole value, however long')
    .option('--no-value', 'not the value: it may be nobody’s business')
    .addHelpText('after', examples)
    .action(async (key: string | undefined, given: InspectGiven, command: Command) => {
      const settings = settingsOf(command)
      namespaceOf(settings)
      const { inspect } = await import('./inspect.ts')
      await inspect(settings, key, given)
    })
}

const examples = `
Examples:
  $ breakwater inspect r:product:42 -n shop
  $ breakwater inspect products:v1 -n shop --json
  $ breakwater inspect --resource feed --arg '{"user":7,"page":1}' -n shop

Exit code: 0 there is an entry (stale, unreadable or invalidated ones included), or its load runs; 1 there is none.`

/** For every command that names entries. */
export function addKeyOptions(command: Command): Command {
  return command
    .option('--resource <name>', 'instead of a key: the name of a definition …')
    .option('--resource-version <version>', '… its version, where it has one …')
    .option('--arg <json>', '… and the argument (or what its `key` function gives), as JSON')
}
