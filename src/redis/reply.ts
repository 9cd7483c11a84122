/**
 * Replies of the scripts, as every client and protocol gives them: text as bytes; integers as
 * numbers, as text (`stringNumbers`) or as bytes.
 */
import type { Acquired } from '../ports.ts'

export function readAcquired(reply: unknown): Acquired {
  const [type, second, third] = reply as readonly unknown[]
  switch (text(type)) {
    case 'value':
      return { type: 'value', frame: second as Uint8Array }
    case 'lease':
      return { type: 'lease' }
    case 'wait':
      return { type: 'wait', ms: number(second), token: text(third) }
    case 'failed':
      return { type: 'failed', error: text(second), backoffMs: number(third) }
    case 'backoff':
      return { type: 'backoff', error: text(second), ms: number(third) }
    case 'nolease':
      return { type: 'nolease', why: text(second) }
    default:
      throw new TypeError(`acquire: expected one of its answers, got ${text(type)}`)
  }
}

export function text(reply: unknown): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString() : String(reply)
}

function number(reply: unknown): number {
  return Number(typeof reply === 'number' ? reply : text(reply))
}
