// Forks a process of the lab into a session of its own, for two reasons. Ctrl-C in a terminal then
// reaches the parent alone, which decides. And where Linux divides the processor among sessions
// (autogroup, sched(7)) rather than among processes, each PostgreSQL backend is one session: twenty
// busy ones would leave API and load generator together a twenty-first part, and requests that left
// late would be the lab's fault. The process ends with its parent, by the channel between them.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function forkSession(entry: URL, signal: AbortSignal): ChildProcess {
  return fork(fileURLToPath(entry), {
    detached: true,
    signal,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}
