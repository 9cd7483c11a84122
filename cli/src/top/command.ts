/**
 * `breakwater top`: the fleet live. Processes are asked over their own bus and answer with the
 * counters that they keep anyway, so it costs nothing while nobody looks. On a terminal it draws in
 * place until `q`; elsewhere (or with `--once`, `--json`) it prints one picture and ends.
 */
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Admin, ProcessSeen } from 'breakwater/admin'
import { Failure } from '../ending.ts'
import { namespaceOf, numberOf, settingsOf, type Settings } from '../settings.ts'
import { ratesBetween } from './rates.ts'
import { openScreen } from './screen.ts'
import { view } from './view.ts'

/** What a process may take to answer: once per half second, and a little for the way. */
const answerMs = 700

export function addTop(program: Command): void {
  program
    .command('top')
    .description(
      'live: the hottest definitions, hit and stale rates, loads and waiters of all processes',
    )
    .option('--interval <seconds>', 'between two samples', '2')
    .option('--once', 'one picture of one interval, also on a terminal')
    .addHelpText('after', examples)
    .action(async (given: { interval: string; once?: boolean }, command: Command) => {
      const settings = settingsOf(command)
      const seconds = numberOf('--interval', given.interval, { least: 1, most: 3_600 })
      const isLive = process.stdout.isTTY === true && given.once !== true && !settings.out.isJson
      await (isLive ? live : once)(settings, seconds * 1_000)
    })
}

const examples = `
Examples:
  $ breakwater top -n shop
  $ breakwater top -n shop --once --interval 10
  $ breakwater top -n shop --json | jq '.definitions[0]'

q or Ctrl-C ends it. A request is a hit from memory or Redis, a stale answer, or one that had to wait for a load.
Exit code: 0; 1 no process has answered (--once, --json).`

async function once(settings: Settings, intervalMs: number): Promise<void> {
  const { out } = settings
  const namespace = namespaceOf(settings)
  const { withAdmin } = await import('../connect/open.ts')
  const [before, after] = await withAdmin(
    settings,
    async (admin) => {
      const first = await admin.processes(answerMs)
      if (first.length === 0) return [first, first] as const
      await setTimeout(intervalMs - answerMs)
      return [first, await admin.processes(answerMs)] as const
    },
    { bus: true, persists: false },
  )
  const rates = ratesBetween(before, after)
  out.result({ namespace, ...rates }, () =>
    view(rates, { paint: out.paint, title: namespace, rows: 200, columns: 200 }).join('\n'),
  )
  if (after.length === 0) throw new Failure('found', nobody(namespace))
}

async function live(settings: Settings, intervalMs: number): Promise<void> {
  const { out } = settings
  const namespace = namespaceOf(settings)
  const { withAdmin } = await import('../connect/open.ts')
  await withAdmin(
    settings,
    async (admin) => {
      const quit = new AbortController()
      const screen = openScreen(() => quit.abort())
      try {
        for await (const [before, after] of samples(admin, intervalMs, quit.signal)) {
          const since = before.length === 0 ? 'since each began' : `every ${intervalMs / 1_000} s`
          const title = `${namespace}  ${since}, q quits`
          const { rows, columns } = screen
          const lines =
            after.length === 0
              ? [title, '', nobody(namespace)]
              : view(ratesBetween(before, after), { paint: out.paint, title, rows, columns })
          screen.draw(lines)
        }
      } finally {
        screen.close()
      }
    },
    { bus: true, persists: true },
  )
}

/** Each with the one before it; at first with none: what is shown at once is since each process began. */
async function* samples(
  admin: Admin,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<readonly [readonly ProcessSeen[], readonly ProcessSeen[]]> {
  const gone = new Promise<readonly ProcessSeen[]>((resolve) => {
    signal.addEventListener('abort', () => resolve([]), { once: true })
  })
  let before: readonly ProcessSeen[] = []
  while (!signal.aborted) {
    // While Redis is away nobody answers, and it is asked again.
    const asked = admin.processes(answerMs).catch(() => [])
    const after = await Promise.race([asked, gone])
    if (signal.aborted) return
    yield [before, after]
    before = after
    await setTimeout(Math.max(0, intervalMs - answerMs), undefined, { signal }).catch(() => {})
  }
}

function nobody(namespace: string): string {
  return (
    `no process of the namespace ${namespace} answers: is the name right, and the database and the key prefix? ` +
    'A cache without a bus does not hear, one of an older version does not understand'
  )
}
