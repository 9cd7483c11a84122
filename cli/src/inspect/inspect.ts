/** Looks at one entry, and finds out who loads it where somebody does. */
import type { Admin, EntrySeen, ProcessSeen } from 'breakwater/admin'
import { withAdmin } from '../connect/open.ts'
import { Failure } from '../ending.ts'
import { plain } from '../print/paint.ts'
import type { Settings } from '../settings.ts'
import type { InspectGiven } from './command.ts'
import { keysGiven } from './keys.ts'
import { entryText } from './text.ts'

/** How long the processes have to say which of them holds a lease. */
const holderMs = 700

export async function inspect(
  settings: Settings,
  key: string | undefined,
  { value, full = false, ...named }: InspectGiven,
): Promise<void> {
  const { out } = settings
  const [looked = []] = keysGiven(key === undefined ? [] : [key], named)
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

/** `undefined`: it does not answer, is of an older version, or has no bus; or we may not ask there. */
async function processOf(settings: Settings, id: string): Promise<ProcessSeen | undefined> {
  const how = { bus: true, persists: false }
  const all = await withAdmin(settings, (admin) => admin.processes(holderMs), how).catch(() => [])
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
