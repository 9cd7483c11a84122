/** The command line as a whole: every subcommand is added here, by a function of its own folder. */
import { Command } from 'commander'
import { addClear } from './change/clear.ts'
import { addExpire, addInvalidate } from './change/entries.ts'
import { addTags } from './change/tags.ts'
import { addCompletion } from './completion/command.ts'
import { addDoctor } from './doctor/command.ts'
import { addInspect } from './inspect/command.ts'
import { addProxy } from './proxy/command.ts'
import { withCommonOptions } from './settings.ts'
import { addTop } from './top/command.ts'
import { simulateCommand } from './what-if/command.ts'

const about =
  'Look into a breakwater cache, change it, check its Redis, and work out what a cache would do.'

const examples = `
Examples:
  $ export REDIS_URL=redis://localhost:6379
  $ breakwater inspect r:product:42 -n shop
  $ breakwater top -n shop
  $ breakwater doctor -n shop

Servers:
  redis://[user:password@]host:port[/db]           one server; a cluster is recognized
  rediss://…                                       the same over TLS (--tls-ca, --insecure)
  redis+sentinel://h1:26379,h2:26379/master[/db]   ?sentinelUsername=…&sentinelPassword=…
  redis+cluster://h1:6379,h2:6379                  rediss+cluster:// and rediss+sentinel:// over TLS
  /path/of/a.sock                                  a unix socket

Exit codes: 0 done; 1 something was found, or was not taken; 2 called in a wrong way; 3 Redis not reachable.`

/** In the order in which they are listed; another one (`simulate`, say) is one line more. */
const subcommands: readonly ((program: Command) => void)[] = [
  addInspect,
  addInvalidate,
  addExpire,
  addTags,
  addClear,
  addTop,
  addDoctor,
  (program) => void program.addCommand(simulateCommand()),
  addProxy,
  addCompletion,
]

export function makeProgram(version: string): Command {
  const program = withCommonOptions(new Command('breakwater'))
    .description(about)
    .version(version)
    .addHelpText('after', examples)
    .showHelpAfterError('(breakwater --help says more)')
    .configureHelp({ showGlobalOptions: true })
  for (const add of subcommands) add(program)
  // Errors of its own become ours: their exit code is 2, whatever commander's is.
  for (const command of [program, ...everyCommand(program)]) {
    command.exitOverride().configureHelp({ showGlobalOptions: true })
  }
  return program
}

export function everyCommand(command: Command): Command[] {
  return command.commands.flatMap((one) => [one as Command, ...everyCommand(one as Command)])
}
