// A private Redis (or Valkey) on a unix socket in the temporary folder: no port, nothing on disk.

import type { ServerCommand } from './keeper.ts'

export function redisCommand(server: string, socket: string): ServerCommand {
  const settings = ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no']
  return { file: server, args: settings, ready: /[Rr]eady to accept connections/, stop: 'SIGKILL' }
}
