// The options of `breakwater simulate`, in the words of whoever types them. Those of breakwater have
// its names and its defaults. All come as text and are checked in settings.ts.

import { Option, type Command } from 'commander'

export interface Given {
  readonly rate?: string
  readonly keys: string
  readonly zipf: string
  readonly trace?: string
  readonly load: string
  readonly loadFile?: string
  readonly failures: string
  readonly deaths: string
  readonly processes: string
  readonly roundTrip: string
  readonly duration: string
  readonly sourceConcurrency: string
  readonly connections: string
  readonly giveUp: string
  readonly writes: string
  readonly cold?: boolean
  readonly seed: string
  readonly strategies?: string
  readonly ttl: string
  readonly jitter: string
  readonly staleWhileRevalidate: string
  readonly staleIfError: string
  readonly errorBackoff: string
  readonly beta: string
  readonly maxLead: string
  readonly memory: boolean
  readonly limit: string
  readonly limitQueue: string
  readonly limitPerSecond: string
  readonly lease: string
  readonly lock: string
  readonly poll: string
  readonly retry: string
  readonly recommend?: boolean
  readonly targetP99?: string
  readonly maxStaleness?: string
  readonly maxLoadsPerSecond?: string
  readonly maxSourceConcurrency?: string
  readonly lab?: readonly string[]
  readonly html?: string
  readonly json?: boolean
  readonly color: boolean
}

export function addOptions(command: Command): Command {
  command
    .optionsGroup('What is asked for:')
    .option('--rate <n>', 'requests per second in all (default: 1000, or the trace’s)')
    .addOption(set('--keys <n>', 'so many keys', '1000'))
    .addOption(set('--zipf <s>', 'their popularity: the n-th gets 1/nˢ; 0: all alike', '1'))
    .option('--trace <file>', 'popularity and rate from lines of "<seconds> <key>" instead')
    .addOption(set('--processes <n>', 'that share the cache', '10'))
    .addOption(set('--writes <n>', 'per second, each invalidates a key', '0'))
    .addOption(set('--give-up <time>', 'when callers stop waiting; their load goes on', '30s'))
    .addOption(set('--duration <time>', 'of virtual time', '5m'))
    .option('--cold', 'begin with an empty cache, as after a flush')
    .addOption(set('--seed <n>', 'the same seed gives the same run', '1'))
  command
    .optionsGroup('The source:')
    .addOption(
      set(
        '--load <times>',
        'what a load takes alone: 200ms, exponential:200ms (mean), lognormal:200ms,1s (p50,p99)',
        'lognormal:200ms,1s',
      ),
    )
    .option('--load-file <file>', 'measured load times instead: milliseconds, or a JSON array')
    .addOption(
      set('--source-concurrency <n>', 'loads that run at full speed; more share these', 'any'),
    )
    .addOption(set('--connections <n>', 'of the whole fleet; further loads queue', 'any'))
    .addOption(set('--failures <share>', 'of the loads, from 0 to 1', '0'))
    .addOption(set('--deaths <share>', 'of the loads whose process dies before it has stored', '0'))
    .addOption(set('--round-trip <time>', 'to Redis', '1ms'))
  command
    .optionsGroup('The cache:')
    .addOption(set('--ttl <time>', 'how long an entry is fresh', '60s'))
    .addOption(
      set('--stale-while-revalidate <time>', 'after the ttl: stale at once, one refreshes', '0'),
    )
    .addOption(set('--stale-if-error <time>', 'after the ttl: stale when the load fails', '0'))
    .addOption(set('--error-backoff <time>', 'after a failed refresh: no other for so long', '1s'))
    .addOption(set('--jitter <share>', 'taken off the ttl at random', '0.1'))
    .addOption(set('--beta <n>', 'of early refresh (XFetch); 0: none', '1'))
    .addOption(set('--max-lead <share>', 'of the ttl: no refresh is earlier', '0.25'))
    .option('--no-memory', 'Redis alone')
    .addOption(set('--limit <n>', 'loads at once in a process', '64'))
    .addOption(set('--limit-queue <time>', 'how long one more may wait', '5s'))
    .addOption(set('--limit-per-second <n>', 'loads in the whole fleet', 'any'))
    .addOption(set('--lease <time>', 'how long a dead process keeps the others waiting', '3s'))
    .addOption(set('--lock <time>', 'how long the recipes’ lock lives', '5s'))
    .addOption(set('--poll <time>', 'between two looks of a loser', '50ms'))
    .addOption(set('--retry <time>', 'before the one further look', '120ms'))
    .option('--strategies <list>', 'of none, coalescing, lock-retry, lock-poll, xfetch, breakwater')
  command
    .optionsGroup('What to set:')
    .option('--recommend', 'search for options that meet the targets')
    .option('--target-p99 <time>', 'of a request')
    .option('--max-staleness <time>', 'no answer is older, from when its source was asked')
    .option('--max-loads-per-second <n>', 'in the whole fleet')
    .option('--max-source-concurrency <n>', 'loads at once in the whole fleet')
  return command
    .optionsGroup('Output:')
    .option('--lab <files...>', 'hold the model against what `npm start -- --json` printed')
    .option('--html <file>', 'also write a page, in one file')
    .option('--json', 'one JSON document on stdout')
    .option('--no-color', 'no colours; $NO_COLOR does the same')
}

/** Commander would show the default in quotes, as if they were to be typed. */
function set(flags: string, description: string, value: string): Option {
  return new Option(flags, description).default(value, value)
}

export const examples = `
Examples:
  # A shop: 200 pages, a query of 0.4 s that two cores answer
  breakwater simulate --rate 500 --keys 200 --ttl 5m --load lognormal:400ms,2s --source-concurrency 2

  # One hot key expires under load
  breakwater simulate --keys 1 --rate 2000 --load 600ms --ttl 10s

  # After a flush of Redis
  breakwater simulate --cold --keys 5000 --duration 1m --source-concurrency 20

  # What to set, so that no answer is older than a minute and p99 stays under 50 ms
  breakwater simulate --recommend --target-p99 50ms --max-staleness 60s --max-source-concurrency 40

  # From your own figures, as a page to send
  breakwater simulate --trace requests.txt --load-file query-times.txt --html what-if.html

Exit codes: 0 done; 1 with --lab, model and lab differ; 2 called in a wrong way.
`
