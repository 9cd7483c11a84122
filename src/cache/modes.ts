/** Which mode holds for a call: what was switched last, for the definition or for all, else its option. */
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { isMode, modesInWords, type Mode } from '../core/modes.ts'
import type { Engine, Source } from './engine.ts'
import { callbackFailed } from './failure.ts'

/** By definition; `undefined`: of all that are not switched by themselves. */
export type Switched = Map<string | undefined, Mode>

export function modeOf(engine: Engine, { name, rules }: Source): Mode {
  const { switched } = engine
  const now = switched.size === 0 ? undefined : (switched.get(name) ?? switched.get(undefined))
  if (now !== undefined) return now
  return typeof rules.mode === 'string' ? rules.mode : asked(engine, name, rules.mode)
}

/** A flag system that fails, or says what we do not know, switches nothing. */
function asked(engine: Engine, name: string, mode: () => unknown): Mode {
  try {
    const said = mode()
    if (isMode(said)) return said
    if (said === undefined) return 'normal'
    throw invalidOption('mode', modesInWords, said)
  } catch (error) {
    callbackFailed(engine, { name, key: '' }, 'mode', error)
    return 'normal'
  }
}

/** `undefined`: its option holds again. */
export function switchTo(engine: Engine, name: string | undefined, mode: unknown): void {
  if (mode !== undefined && !isMode(mode)) {
    throw invalidOption('switchTo', `${modesInWords}, or undefined`, mode)
  }
  if (mode === undefined) engine.switched.delete(name)
  else engine.switched.set(name, mode)
  engine.listeners.tell('switched', () => ({ name, mode }))
}

/** Is nothing to be loaded: at all, or where nobody waits for it? */
export function forbidsLoad(mode: Mode, isBackground: boolean): boolean {
  return mode === 'stale-only' || (isBackground && mode === 'no-refresh')
}

/** For who is to be told so, or whose load has been in the queue when it was switched. */
export function notLoaded({ counters }: Source, key: string, mode: Mode): BreakwaterError {
  if (mode === 'stale-only') counters.overloaded++
  return new BreakwaterError('OVERLOADED', `no load of ${key} was started: it is '${mode}'`, {
    key,
  })
}
