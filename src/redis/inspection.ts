/**
 * What lies in Redis, for who looks from outside: reads alone, none of them by a script, so that a
 * look changes nothing, needs no right to write and makes no state of a namespace that is not there.
 */
import type { Inspection, Lying, LyingLease, LyingTags, Mark } from '../ports.ts'
import type { Bytes, RedisCommands } from './commands.ts'
import type { Layout } from './layout.ts'
import { number, readMarks, readSettling, text } from './reply.ts'

/** As acquire.lua writes it. */
const leaseRecord = /^bw1 (\S+) (\d+) (\S+) (\d+) (\d+) ([^]*)$/
const mostSettling = 1_000

export function redisInspection(commands: RedisCommands, layout: Layout): Inspection {
  const [epochs, settling] = layout.tagKeys as readonly [string, string]
  const scoreOf = async (member: string): Promise<number | undefined> => {
    const score = await commands.keyed('ZSCORE', epochs, [member])
    return score === null ? undefined : number(score)
  }
  const range = (key: string, most: number): Promise<unknown> =>
    commands.keyed('ZREVRANGE', key, ['0', String(most - 1), 'WITHSCORES'])
  return {
    entry: async (key): Promise<Lying> => {
      const frameKey = layout.frameKey(key)
      const leaseKey = layout.leaseKey(key)
      const [frame, life, record, leaseLife] = await Promise.all([
        commands.get(frameKey),
        commands.keyed('PTTL', frameKey, []),
        commands.get(leaseKey),
        commands.keyed('PTTL', leaseKey, []),
      ])
      const leftMs = number(life)
      return {
        frame: frame ?? undefined,
        leftMs: leftMs < 0 ? undefined : leftMs,
        lease: readLease(record, number(leaseLife)),
      }
    },
    tags: async (labels, most): Promise<LyingTags> => {
      const lookUp = async (kind: Mark['kind'], label: string): Promise<Mark[]> => {
        const epoch = await scoreOf((kind === 'gone' ? 'g' : 'e') + label)
        return epoch === undefined ? [] : [{ kind, label, epoch }]
      }
      const marks = labels.flatMap((label) => [lookUp('gone', label), lookUp('expired', label)])
      const [floor, top, count, newest, settles, ...found] = await Promise.all([
        scoreOf('f'),
        range(epochs, 1),
        commands.keyed('ZCARD', epochs, []),
        // The floor is one of them.
        most === 0 ? [] : range(epochs, most + 1),
        range(settling, mostSettling),
        ...marks,
      ])
      const highest = (top as readonly unknown[]).flat()[1]
      return {
        highest: highest === undefined ? undefined : number(highest),
        floor: floor ?? 0,
        count: Math.max(0, number(count) - (floor === undefined ? 0 : 1)),
        marks: found.flat(),
        newest: readMarks(newest).slice(0, most),
        settling: readSettling(settles),
      }
    },
  }
}

function readLease(record: Bytes | null, leftMs: number): LyingLease | undefined {
  if (record === null) return undefined
  const [, holder, awaited, failed, , backoff, error] = leaseRecord.exec(text(record)) ?? []
  // One without an end is nobody's: the next who asks takes it.
  if (holder === undefined || leftMs < 0) return undefined
  const isFailed = failed !== '-'
  return {
    holder: holder === '-' ? undefined : holder,
    leftMs,
    awaitedUntil: Number(awaited),
    failure: isFailed ? { error: error ?? '', backoffUntil: Number(backoff) } : undefined,
  }
}
