/** What is told of a key over the bus, and what every process that makes it ahead does with that. */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { EntryMessage } from '../ports.ts'
import { fetchNewer } from './newer.ts'
import type { Hands } from './plan.ts'
import { toldFailure } from './told-failure.ts'

export interface Heard {
  /** Of the load, or of the change. */
  readonly id: string
  readonly isOwn: boolean
}

export function heard(
  { engine, ownTokens }: Hands,
  definition: AheadDefinition,
  message: EntryMessage,
): Heard {
  const id = 'token' in message ? message.token : message.id
  const isOwn = id.startsWith(ownTokens)
  if (message.type === 'published') fetchNewer(engine, definition, message)
  if (message.type === 'failed' && !isOwn) toldFailure(engine, definition, message)
  return { id, isOwn }
}
