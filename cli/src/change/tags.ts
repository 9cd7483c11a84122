/** `breakwater tags`: what was changed by tag lately; and changes by tag. */
import type { Command } from 'commander'
import type { TagsSeen } from 'breakwater/admin'
import { plain } from '../print/paint.ts'
import { table } from '../print/table.ts'
import { duration, instant } from '../print/units.ts'
import { numberOf, settingsOf } from '../settings.ts'

export function addTags(program: Command): void {
  const tags = program
    .command('tags')
    .description('what was changed by tag; invalidate or expire by tag')
    .addHelpText('after', examples)
  tags
    .command('list', { isDefault: true })
    .description('the changes by tag that are remembered, newest first')
    .option('--limit <n>', 'at most so many', '20')
    .action(async (given: { limit: string }, command: Command) => {
      const settings = settingsOf(command)
      const limit = numberOf('--limit', given.limit, { least: 1, most: 100_000, whole: true })
      const { withAdmin } = await import('../connect/open.ts')
      const seen = await withAdmin(settings, (admin) => admin.tags(limit), {
        bus: false,
        persists: false,
      })
      settings.out.result(jsonOf(seen), () => tagsText(seen, Date.now()))
    })
  tags
    .command('invalidate')
    .argument('<tags...>')
    .description('make every entry that carries one of the tags unusable')
    .option('--settle <duration>', 'the source may give old values for so long ("2s")')
    .action(async (names: string[], given: { settle?: string }, command: Command) => {
      const settings = settingsOf(command)
      const { settleOf } = await import('./settle.ts')
      const settle = settleOf(given.settle)
      const { withCache } = await import('../connect/open.ts')
      await withCache(settings, (cache) => cache.invalidateTags(names, { settle }))
      settings.out.result({ done: 'invalidated', tags: names }, () =>
        doneText('invalidated', names),
      )
    })
  tags
    .command('expire')
    .argument('<tags...>')
    .description('make every entry that carries one of the tags stale as of now')
    .action(async (names: string[], _given: object, command: Command) => {
      const settings = settingsOf(command)
      const { withCache } = await import('../connect/open.ts')
      await withCache(settings, (cache) => cache.expireTags(names))
      settings.out.result({ done: 'expired', tags: names }, () => doneText('expired', names))
    })
}

const examples = `
Examples:
  $ breakwater tags -n shop
  $ breakwater tags invalidate category:keyboards -n shop
  $ breakwater tags expire products prices -n shop

An invalidation by tag costs the same for any number of entries: each is held against it when it is read.
So there is no list of the entries of a tag; "inspect KEY" shows the tags of an entry and what has reached it.`

function tagsText(seen: TagsSeen, now: number): string {
  const { count, highest, floor, newest, settling } = seen
  if (highest === undefined) return 'nothing was ever changed by tag in this namespace'
  const floorText =
    floor === 0 ? '' : `; what was loaded before ${instant(floor / 1_000)} is invalid`
  const head = `${count} remembered${floorText}`
  const rows = newest.map(({ what, how, at }) => [
    plain(what),
    how,
    `${duration(Math.max(0, now - at))} ago`,
    instant(at),
  ])
  const settles = settling
    .filter(({ until }) => until > now)
    .map(({ what, until }) => `${plain(what)} settles for ${duration(until - now)} more`)
  return [head, ...table(rows), ...settles].join('\n')
}

function doneText(done: string, names: readonly string[]): string {
  return names.map((name) => `${done} tag ${JSON.stringify(plain(name))}`).join('\n')
}

/** Always with the same properties: what is not there is null. */
function jsonOf({ count, highest, floor, newest, settling }: TagsSeen): object {
  const changes = newest.map((one) => ({ ...one, tag: one.tag ?? null }))
  return { count, highest: highest ?? null, floor, newest: changes, settling }
}
