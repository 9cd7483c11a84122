// Starts the keeper and waits until PostgreSQL accepts connections. The keeper is told nothing: it
// ends when the channel to it closes.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DatabaseAddress } from './addresses.ts'
import type { KeeperReply } from './keeper-reply.ts'
import { postgresPort, postgresUser } from './postgres.ts'

export interface PrivateDatabase {
  readonly address: DatabaseAddress
  stop(): Promise<void>
}

/** An abort ends it at once, in the middle of its start too. */
export async function startKeeper(signal: AbortSignal): Promise<PrivateDatabase> {
  const child = fork(fileURLToPath(new URL('./keeper.js', import.meta.url)), {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const gone = new Promise<void>((done) => child.once('exit', () => done()))
  const stop = async (): Promise<void> => {
    if (child.connected) child.disconnect()
    await gone
  }
  signal.addEventListener('abort', () => void stop(), { once: true })
  const reply = await firstReply(child)
  if (reply.kind === 'failed') {
    await stop()
    throw new Error(`could not start PostgreSQL: ${reply.reason}`)
  }
  const config = {
    host: reply.socketDir,
    port: postgresPort,
    user: postgresUser,
    database: 'postgres',
  }
  return { address: { kind: 'private', config }, stop }
}

function firstReply(child: ChildProcess): Promise<KeeperReply> {
  return new Promise((resolve) => {
    child.once('message', (message) => resolve(message as KeeperReply))
    child.once('exit', (code) => {
      resolve({ kind: 'failed', reason: `the keeper ended with ${String(code)}` })
    })
  })
}
