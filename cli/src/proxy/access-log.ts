/**
 * A line of JSON per request. Neither query nor fields are in it: both may hold what lets somebody in.
 * Whoever reads it slowly loses lines, and is told how many; requests do not wait for it.
 */
import { createWriteStream, openSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Failure } from '../ending.ts'
import { plainJson } from '../print/paint.ts'

export interface Line {
  readonly at: string
  readonly client: string
  readonly method: string
  readonly host: string | undefined
  readonly path: string
  readonly status: number
  readonly bytes: number
  readonly ms: number
  readonly cache: string
  /** Whether the answer was whole when its connection ended. */
  readonly whole: boolean
}

export interface AccessLog {
  write(line: Line): void
  close(): Promise<void>
}

const mostWaiting = 8 * 2 ** 20

export function openAccessLog(file: string, say: (text: string) => void): AccessLog {
  const isOut = file === '-'
  const to: Writable = isOut ? process.stdout : createWriteStream('', { fd: opened(file) })
  let isGone = false
  to.on('error', (error) => {
    if (!isGone) say(`access log: ${error.message}; none from here on`)
    isGone = true
  })
  let lost = 0
  return {
    write: (line) => {
      if (isGone) return
      if (to.destroyed || to.writableLength > mostWaiting) {
        lost += 1
        return
      }
      const before = lost
      lost = 0
      to.write(`${plainJson(JSON.stringify(before > 0 ? { ...line, lost: before } : line))}\n`)
    },
    close: async () => {
      if (isOut || to.destroyed) return
      to.end()
      await finished(to).catch(() => {})
    },
  }
}

function opened(file: string): number {
  try {
    return openSync(file, 'a')
  } catch (error) {
    throw new Failure(
      'usage',
      `--access-log: expected a file that can be written, got ${(error as Error).message}`,
    )
  }
}
