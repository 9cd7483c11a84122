/**
 * Runs a session's work beside its heartbeats. A beat that fails, a connection that ends or a work
 * that throws ends the session; so does the end of the capture.
 */
import type { Capture } from './capture.ts'
import type { Link } from './link.ts'

export async function whileAlive(
  capture: Capture,
  links: readonly Link[],
  { work, beat }: { work(): Promise<void>; beat(): Promise<void> },
): Promise<void> {
  const { signal, rules } = capture
  let isOver = false
  const beats = async (): Promise<void> => {
    for (;;) {
      await capture.pause(rules.heartbeatMs)
      if (signal.aborted || isOver) return
      await beat()
    }
  }
  const ends = links.map(async ({ ended }) => {
    throw await ended
  })
  const closed = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const failed = new Promise<never>((_, reject) => {
    work().catch(reject)
    beats().catch(reject)
    for (const end of ends) end.catch(reject)
  })
  try {
    await Promise.race([failed, closed])
  } finally {
    isOver = true
  }
}
