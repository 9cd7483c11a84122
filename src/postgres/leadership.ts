/**
 * Of all processes that capture the same, one works: whoever has the advisory lock, which its
 * connection has and loses. Others ask for it from time to time. One that has it and does nothing any
 * more (stopped, frozen, its network gone) has its connection ended by those who wait.
 */
import type { Capture } from './capture.ts'
import type { Link } from './link.ts'
import { lockKeys } from './names.ts'

/** Resolves when this connection leads, or the capture is closed. `meanwhile`: each time it does not. */
export async function lead(
  capture: Capture,
  link: Link,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<void> {
  const { name, heartbeatMs, deadlineMs } = capture.rules
  const keys = lockKeys(name, capture.engine.namespace)
  const { clock } = capture.engine
  while (!capture.signal.aborted) {
    const [row] = await link.query('SELECT pg_catalog.pg_try_advisory_lock($1, $2)::text AS got', [
      ...keys,
    ])
    if (row!['got'] === 'true') return
    capture.say('standby')
    await endStuck(link, keys, 2 * heartbeatMs + deadlineMs)
    await meanwhile()
    await capture.pause(heartbeatMs * (0.25 + clock.random() / 4))
  }
}

async function endStuck(
  link: Link,
  [space, key]: readonly [number, number],
  silentMs: number,
): Promise<void> {
  try {
    await link.query(
      `SELECT pg_catalog.pg_terminate_backend(a.pid)
       FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
       WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
         AND l.classid::bigint = $1 AND l.objid::bigint = $2 AND a.datname = current_database()
         AND clock_timestamp() - a.state_change > $3 * interval '1 millisecond'`,
      [space, key, silentMs],
    )
  } catch (error) {
    // Another role's, which we may not end: then it is not ours to judge.
    if (!link.isOpen) throw error
  }
}
