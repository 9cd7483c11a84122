/**
 * From a row change to what is to be done. A mapping that throws, or gives what cannot be done, is a
 * fault of the user's that must not lose the change: the table's definitions go as a whole.
 */
import { BreakwaterError, describe } from '../core/errors.ts'
import type { ChangeAction } from './actions.ts'
import type { RowChange, TableChanges } from './table.ts'
import type { Work } from './work.ts'

/** Throws what the mapping threw, or what is wrong with what it gave; nothing is added then. */
export function mapInto(
  work: Work,
  table: TableChanges,
  change: RowChange<Record<string, unknown>>,
): void {
  const given = table.change(change as RowChange<never>)
  const actions = given === undefined ? [] : Array.isArray(given) ? given : [given]
  for (const action of actions as unknown[]) check(action, table)
  for (const action of actions as ChangeAction[]) work.add(action, table)
  work.changes++
}

function check(action: unknown, { affects }: TableChanges): void {
  if (!isAction(action)) {
    const expected =
      "what invalidate(), expire(), refresh() and their like of 'breakwater/postgres' make"
    throw wrong(`expected ${expected}, got ${describe(action)}`)
  }
  if (action.of === 'tags') {
    const bad = action.tags.find((tag) => typeof tag !== 'string')
    if (bad !== undefined) throw wrong(`expected tags to be texts, got ${describe(bad)}`)
    return
  }
  const { target } = action
  // A gap would not reach it: its changes could be lost without a word.
  const isReached = affects.includes(target) || affects.some((one) => 'define' in one)
  if (!isReached) throw wrong(`expected a definition that stands in affects, got '${target.name}'`)
  if (action.of === 'key') target.key(action.arg as never)
}

function isAction(action: unknown): action is ChangeAction {
  if (typeof action !== 'object' || action === null || !('of' in action)) return false
  return action.of === 'key' || action.of === 'all' || action.of === 'tags'
}

function wrong(text: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', `onTable.change: ${text}`)
}
