/**
 * Replies of the scripts, as every client and protocol gives them: text as bytes; integers as
 * numbers, as text (`stringNumbers`) or as bytes.
 */
import type { Tokens } from '../core/token-bucket.ts'
import type { Acquired, Bumped, EpochNews, Mark, Settling } from '../ports.ts'

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

export function readEpochs(reply: unknown): EpochNews {
  const [seconds, micros, highest, floor, since, marks, settling] = reply as readonly unknown[]
  return {
    time: number(seconds) * 1_000 + number(micros) / 1_000,
    highest: number(highest),
    floor: number(floor),
    since: number(since),
    marks: readMarks(marks),
    settling: readSettling(settling),
  }
}

/** Members of the epochs with their scores. */
export function readMarks(reply: unknown): Mark[] {
  return pairs(reply).flatMap(([member, epoch]): Mark[] => {
    const kind = markKinds[member[0]!]
    return kind === undefined ? [] : [{ kind, label: member.slice(1), epoch }]
  })
}

export function readSettling(reply: unknown): Settling[] {
  return pairs(reply).map(([label, until]) => ({ label, until }))
}

const markKinds: Readonly<Record<string, Mark['kind']>> = { g: 'gone', e: 'expired' }

function pairs(reply: unknown): (readonly [string, number])[] {
  // Where no script made it, RESP3 has each member and its score as a pair.
  const list = (reply as readonly unknown[]).flat()
  const made: (readonly [string, number])[] = []
  for (let n = 0; n + 1 < list.length; n += 2) made.push([text(list[n]), number(list[n + 1])])
  return made
}

export function readTokens(reply: unknown): Tokens {
  const [granted, waitMs] = reply as readonly unknown[]
  return { granted: number(granted), waitMs: number(waitMs) }
}

export function readBumped(reply: unknown): Bumped {
  const [epoch, previous, until] = (reply as readonly unknown[]).map(number)
  return { epoch: epoch!, previous: previous!, until: until! }
}

export function text(reply: unknown): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString() : String(reply)
}

export function number(reply: unknown): number {
  return Number(typeof reply === 'number' ? reply : text(reply))
}
