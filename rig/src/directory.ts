// A directory for what servers must write (a cluster's node files, a sentinel's configuration). A
// small shell removes it when this process ends, however that ends, as it does with the servers.

import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Directory {
  readonly path: string
  /** After its servers have ended. */
  remove(): Promise<void>
}

// The pause lets servers that end for the same reason write for the last time.
const keeperScript = 'read -r word; [ -n "$word" ] || sleep 1; rm -rf "$1"'

export function makeDirectory(): Directory {
  const path = mkdtempSync(join(tmpdir(), 'breakwater-'))
  const keeper = spawn('sh', ['-c', keeperScript, 'sh', path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => keeper.once('exit', () => resolve()))
  keeper.stdin.on('error', () => {})
  keeper.unref()
  if ('unref' in keeper.stdin && typeof keeper.stdin.unref === 'function') keeper.stdin.unref()
  return {
    path,
    remove: () => {
      keeper.ref()
      keeper.stdin.end('now\n')
      return ended
    },
  }
}
