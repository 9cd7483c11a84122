/** `breakwater clear`: everything of a namespace, or of one definition. It asks first. */
import type { Command } from 'commander'
import { parseAddress } from '../connect/address.ts'
import { Failure } from '../ending.ts'
import { namespaceOf, settingsOf } from '../settings.ts'
import { askFirst } from './ask.ts'

interface Given {
  readonly resource?: string
  readonly expire?: boolean
  readonly yes?: boolean
}

export function addClear(program: Command): void {
  program
    .command('clear')
    .description('invalidate all entries of the cache or of one definition; asks first')
    .option('--resource <name>', 'only the entries of this definition')
    .option('--expire', 'make them stale instead, so that stale windows still serve')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', examples)
    .action(async (given: Given, command: Command) => {
      const settings = settingsOf(command)
      const namespace = namespaceOf(settings)
      const { resource, expire = false, yes = false } = given
      const verb = expire ? 'Expire' : 'Invalidate'
      const which = resource === undefined ? 'ALL entries' : `all entries of “${resource}”`
      const question = `${verb} ${which} in the namespace “${namespace}” at ${parseAddress(settings.redis).shown}?`
      if (!(await askFirst(question, { yes }))) throw new Failure('found', 'nothing was changed')
      const { withCache } = await import('../connect/open.ts')
      await withCache(settings, async (cache) => {
        // Only its name matters: nothing is ever loaded by it.
        const of =
          resource === undefined ? cache : cache.define({ name: resource, load: () => undefined })
        await (expire ? of.expireAll() : of.clear())
      })
      const done = expire ? 'expired' : 'invalidated'
      settings.out.result(
        { done, namespace, resource: resource ?? null },
        () => `${done} ${which} in the namespace ${namespace}`,
      )
    })
}

const examples = `
Examples:
  $ breakwater clear --resource product -n shop
  $ breakwater clear -n shop --yes

The price is the same for any number of entries: none is looked for. Without a terminal it needs --yes.
Exit code: 0 Redis has taken it and told every process; 1 it has not, or the answer was no.`
