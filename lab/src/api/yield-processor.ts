// On a real system the database has a machine of its own. Here it shares the processor with the API
// and the load generator, and must not starve them: late requests would be the lab's fault, not the
// contender's. Linux divides the processor among *sessions* (autogroup) where that is on, and each
// PostgreSQL backend is a session, so twenty of them would leave everything else a twenty-first
// part; nice(2) does not help across sessions, the session's own value does (sched(7)).

import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const niceness = '5'

export async function yieldProcessor(pids: readonly number[]): Promise<void> {
  if (process.platform !== 'linux') return
  for (const pid of pids) {
    for (let attempt = 0; attempt < 20; attempt++) {
      const error = await writeFile(`/proc/${pid}/autogroup`, niceness).then(
        () => undefined,
        (reason: NodeJS.ErrnoException) => reason,
      )
      if (error?.code !== 'EAGAIN') break // the kernel takes one such change in 100 ms from a user
      await sleep(50 + Math.random() * 50)
    }
  }
}
