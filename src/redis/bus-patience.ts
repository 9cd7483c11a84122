/**
 * How long a subscription may take to be confirmed: the network may have swallowed it, and a client
 * waits for ever. What came in while this process stalled is taken in first.
 */
import type { Subscription } from './commands.ts'

const patienceMs = 2_000

/** Returns what cancels it. */
export function patience({ after }: Pick<Subscription, 'after'>, giveUp: () => void): () => void {
  let cancel = after(patienceMs, () => {
    cancel = after(0, giveUp)
  })
  return () => cancel()
}
