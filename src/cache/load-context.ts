/** What a loader is given. Closures over one run of it: they may be taken out of ctx. */
import { BreakwaterError } from '../core/errors.ts'
import type { LoadReason } from '../core/events.ts'
import { durationMs } from '../core/duration.ts'
import type { Windows } from '../core/decide.ts'
import { checkNames } from '../core/option-names.ts'
import type { LoadContext } from '../api.ts'
import { instants, type Entry } from './entry.ts'
import { given } from './values.ts'
import { labelsFor } from './labels-for.ts'
import type { EntryRules } from './options.ts'

/** What the loader said beside its result. */
export interface Said {
  ttlMs: number | undefined
  windows: Partial<Windows>
  /** Labels. */
  readonly tags: string[]
  meta: { readonly value: unknown } | undefined
  noStore: boolean
  private: boolean
  notModified: boolean
}

const ofWindows = { names: new Set(['staleWhileRevalidate', 'staleIfError']) }

export interface ContextInit {
  readonly key: string
  readonly signal: AbortSignal
  readonly deadline: number
  readonly reason: LoadReason
  readonly previous: Entry | undefined
  readonly rules: EntryRules
}

export function loadContext(init: ContextInit): { ctx: LoadContext; said: Said } {
  const { key, previous, rules } = init
  const said: Said = {
    ttlMs: undefined,
    windows: {},
    tags: [],
    meta: undefined,
    noStore: false,
    private: false,
    notModified: false,
  }
  const ctx: LoadContext = {
    key,
    signal: init.signal,
    deadline: init.deadline,
    reason: init.reason,
    previous:
      previous === undefined
        ? undefined
        : {
            value: given(previous, rules),
            storedAt: instants(previous).storedAt,
            meta: previous.meta,
          },
    ttl: (ttl) => {
      said.ttlMs = durationMs(ttl, 'ctx.ttl', { allowZero: true })
    },
    windows: (windows) => {
      const { staleWhileRevalidate, staleIfError } = checkNames(windows, ofWindows, 'ctx.windows.')
      const ms = (given: unknown, name: string): number =>
        durationMs(given, `ctx.windows.${name}`, { allowZero: true })
      said.windows = {
        ...(staleWhileRevalidate !== undefined && {
          staleWhileRevalidateMs: ms(staleWhileRevalidate, 'staleWhileRevalidate'),
        }),
        ...(staleIfError !== undefined && { staleIfErrorMs: ms(staleIfError, 'staleIfError') }),
      }
    },
    tags: (...more) => {
      said.tags.push(...labelsFor(more, 'ctx.tags'))
    },
    meta: (meta) => {
      said.meta = { value: meta }
    },
    noStore: () => {
      said.noStore = true
    },
    private: () => {
      said.private = true
    },
    notModified: () => {
      if (previous === undefined) {
        throw new BreakwaterError('NO_PREVIOUS', `${key}: there is no previous value to renew`, {
          key,
        })
      }
      said.notModified = true
      return undefined as never
    },
  }
  return { ctx, said }
}
