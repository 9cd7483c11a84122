// The lab: servers up, shop filled, contenders one after the other, then the faults; a page that shows
// it, a table, a report, perhaps a verdict. Whatever happens, including Ctrl-C, everything it started goes with it.

import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Flags, help, readFlags } from './flags.ts'
import { createLive, type Live } from './live/live.ts'
import { openBrowser } from './live/open-browser.ts'
import { serveLive } from './live/serve.ts'
import { type Progress, progressTo } from './progress.ts'
import { reportPage } from './report/page.ts'
import { terminalText } from './report/terminal.ts'
import { plural } from './report/wording.ts'
import { play } from './run/play.ts'
import { runLab } from './run/run-lab.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort(signal))
}

process.exitCode = await main()
// Children that are still on their way out must not hold us: they end with our channel to them.
process.exit()

async function main(): Promise<number> {
  let flags: Flags
  try {
    flags = readFlags(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    return 2
  }
  if (flags.help) {
    process.stdout.write(help)
    return 0
  }
  try {
    return await (flags.play ? playFreely(flags) : run(flags))
  } catch (error) {
    if (interrupted.signal.aborted) {
      process.stderr.write('\ninterrupted\n')
      return interrupted.signal.reason === 'SIGINT' ? 130 : 143
    }
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

async function run(flags: Flags): Promise<number> {
  const progress = progressTo(process.stderr)
  return withPage(flags, progress, async (live) => {
    const { result, runs } = await runLab({
      size: flags.quick ? 'quick' : 'full',
      env: process.env,
      progress,
      signal: interrupted.signal,
      live,
    })
    const out = resolve(flags.out)
    await writeFile(out, reportPage(result, runs))
    live.record.ended(`The run has ended. Its report: ${flags.out}`, result)
    process.stdout.write(
      flags.json
        ? `${JSON.stringify(result, null, 2)}\n`
        : `\n${terminalText(result)}\n\nReport: ${out}\n`,
    )
    if (!flags.check) return 0
    for (const failure of result.verdict.failures) progress.done(`✗ ${failure}`)
    if (result.verdict.ok) progress.done('✓ check: the run shows what breakwater promises')
    return result.verdict.ok ? 0 : 1
  })
}

async function playFreely(flags: Flags): Promise<number> {
  const progress = progressTo(process.stderr)
  return withPage(flags, progress, async (live) => {
    const { seconds, requests, errors, queries } = await play({
      size: flags.quick ? 'quick' : 'full',
      env: process.env,
      progress,
      signal: interrupted.signal,
      live,
    })
    const said =
      `Played for ${seconds} s: ${plural(requests, 'request', 'requests')}, ` +
      `${plural(errors, 'error', 'errors')}, ${plural(queries, 'trending query', 'trending queries')}.`
    live.record.ended(said)
    process.stdout.write(`${said}\n`)
    return 0
  })
}

/** The page is there from the first moment, and has the last state before it goes. */
async function withPage(
  flags: Flags,
  progress: Progress,
  work: (live: Live) => Promise<number>,
): Promise<number> {
  const live = createLive(flags.play ? 'play' : 'run')
  const page = flags.live ? await serveLive(live, flags.port) : undefined
  if (page !== undefined) {
    progress.done(`Live: ${page.url}`)
    const { platform, env, stderr } = process
    if (flags.open) openBrowser(page.url, { platform, env, isTerminal: stderr.isTTY })
  }
  try {
    return await work(live)
  } catch (error) {
    live.record.ended(
      interrupted.signal.aborted ? 'The run was interrupted.' : 'The run has failed.',
    )
    throw error
  } finally {
    await page?.close()
  }
}
