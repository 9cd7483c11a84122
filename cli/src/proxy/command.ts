/** `breakwater proxy`: runs until it is told to stop. */
import cluster from 'node:cluster'
import type { Command } from 'commander'
import { addProxyOptions } from './options.ts'
import { proxySettings, type ProxySettings } from './settings.ts'
import { fromCommandLine, fromEnvironment, fromFile, type Sources } from './sources.ts'

const examples = `
Examples:
  $ breakwater proxy --origin http://127.0.0.1:3000
  $ breakwater proxy --origin http://127.0.0.1:3000 --redis redis://localhost:6379 --stale-while-revalidate 10m
  $ breakwater proxy --config proxy.json

On the command line, in the file (maxBody) and in the environment (BREAKWATER_PROXY_MAX_BODY) options have the same
names; the command line comes before the file, the file before the environment. Of the options of all commands it
takes those for Redis; without --redis or $REDIS_URL answers are kept in memory alone. SIGTERM and SIGINT stop it.
Exit codes: 0 stopped; 1 it cannot listen, or has failed; 2 called in a wrong way; 3 Redis does not let it in.`

export function addProxy(program: Command): void {
  const command = program
    .command('proxy')
    .description('a caching reverse proxy in front of an origin that nobody can change')
  addProxyOptions(command)
    .addHelpText('after', examples)
    .action(async (given: { config?: string }, own: Command) => {
      const settings = await settingsFrom(given.config, own)
      // Unlike the other commands, it is not there for whoever reads what it says.
      for (const out of [process.stdout, process.stderr]) {
        out.removeAllListeners('error').on('error', () => {})
      }
      if (settings.workers > 1 && cluster.isPrimary) {
        const { runWorkers } = await import('./workers.ts')
        return runWorkers(settings, say)
      }
      const { runOne } = await import('./run.ts')
      return runOne(settings, say)
    })
}

async function settingsFrom(config: string | undefined, command: Command): Promise<ProxySettings> {
  // `--timeout` has a default, which a file comes before.
  const all = command.optsWithGlobals<Record<string, string | boolean>>()
  const typed = Object.entries(all).filter(
    ([name]) => command.getOptionValueSourceWithGlobals(name) !== 'default',
  )
  const sources: Sources[] = [fromCommandLine(Object.fromEntries(typed))]
  if (config !== undefined) sources.push(await fromFile(config))
  sources.push(fromEnvironment(process.env))
  return proxySettings(sources)
}

function say(text: string): void {
  process.stderr.write(`breakwater proxy: ${text}\n`)
}
