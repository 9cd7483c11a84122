/** `breakwater inspect KEY`: one entry, as it lies in Redis and as a reader would see it now. */
import type { Command } from 'commander'
import { keyOf, keysOf, type Admin, type EntrySeen, type ProcessSeen } from 'breakwater/admin'
import { withAdmin } from '../connect/open.ts'
import { Failure, usage } from '../ending.ts'
import { plain } from '../print/paint.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { entryText } from './text.ts'

interface Given {
  readonly resource?: string
  readonly resourceVersion?: string
  readonly arg?: string
  readonly value: boolean
  readonly full?: boolean
}

/** How long the processes have to say which of them holds a lease. */
const holderMs = 700

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
    .action(async (key: string | undefined, given: Given, command: Command) => {
      await inspect(settingsOf(command), keysGiven(key === undefined ? [] : [key], given)[0], given)
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

/** For each the keys that it can mean, the likeliest first. */
export function keysGiven(
  keys: readonly string[],
  { resource, resourceVersion, arg }: Pick<Given, 'resource' | 'resourceVersion' | 'arg'>,
): (readonly [string, ...string[]])[] {
  if (resource === undefined) {
    if (arg !== undefined) throw usage('--arg: expected with --resource NAME, got it alone')
    if (keys.length === 0) throw usage('KEY: expected a key, or --resource NAME, got none')
    return keys.map((key) => keysOf(key) as [string, ...string[]])
  }
  if (keys.length > 0)
    throw usage(`--resource: expected without a key, got ${JSON.stringify(keys[0])}`)
  return [[keyOf({ resource, version: resourceVersion, arg: argOf(arg) })]]
}

function argOf(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`--arg: expected JSON, as in --arg '"keyboards"' or --arg 42, got ${text}`)
  }
}

async function inspect(
  settings: Settings,
  keys: readonly string[] | undefined,
  { value, full = false }: Given,
): Promise<void> {
  const { out } = settings
  const looked = keys ?? []
  const seen = await withAdmin(settings, (admin) => firstThatIs(admin, looked), {
    bus: false,
    persists: false,
  })
  const heldBy = seen.lease?.heldBy
  const holder = heldBy === undefined ? undefined : await processOf(settings, heldBy)
  const shown = value ? seen : withoutValue(seen)
  out.result({ ...jsonOf(shown), holder: holder ?? null, lookedAt: looked }, () =>
    entryText(shown, { paint: out.paint, holder, full }),
  )
  if (seen.state !== 'missing' || seen.lease !== undefined) return
  const all = looked.map((key) => JSON.stringify(plain(key))).join(' and ')
  throw new Failure('found', `no entry: looked for ${all} in the namespace ${settings.namespace}`)
}

async function firstThatIs(admin: Admin, keys: readonly string[]): Promise<EntrySeen> {
  const all = await Promise.all(keys.map((key) => admin.entry(key)))
  return all.find(({ state, lease }) => state !== 'missing' || lease !== undefined) ?? all[0]!
}

/** `undefined`: it does not answer, is of an older version, or has no bus. */
async function processOf(settings: Settings, id: string): Promise<ProcessSeen | undefined> {
  const all = await withAdmin(settings, (admin) => admin.processes(holderMs), {
    bus: true,
    persists: false,
  })
  return all.find((one) => one.id === id)
}

function withoutValue(seen: EntrySeen): EntrySeen {
  if (seen.frame === undefined) return seen
  const value = { type: 'none', why: 'not asked for' } as const
  return { ...seen, frame: { ...seen.frame, value, meta: undefined } }
}

/** Always with the same properties: what is not there is null. */
function jsonOf({ key, state, why, now, leftMs, lease, frame }: EntrySeen): object {
  const { changedBy = null, compression = null, uncacheable = null, meta = null } = frame ?? {}
  const whole = frame === undefined ? null : { ...frame, changedBy, compression, uncacheable, meta }
  const { holder = null, heldBy = null, failure = null } = lease ?? {}
  const held = lease === undefined ? null : { ...lease, holder, heldBy, failure }
  return { key, state, why: why ?? null, now, leftMs: leftMs ?? null, lease: held, frame: whole }
}
