// Faults that a stranger has found in the command: what is stored must not reach the terminal as more
// than text, and a password must not reach it at all, however the URL is mistyped.

import { expect, it } from 'vitest'
import { parseAddress } from '../../cli/src/connect/address.ts'
import { entryText } from '../../cli/src/inspect/text.ts'
import { asJson } from '../../cli/src/print/json.ts'
import { paint, plain } from '../../cli/src/print/paint.ts'
import { numberOf } from '../../cli/src/settings.ts'
import { Roll } from '../../src/admin/roll.ts'
import type { EntrySeen, ValueSeen } from '../../src/admin/index.ts'
import type { StoreSession } from '../../src/ports.ts'

const evil = 'a\u001b[2J\u009b31m\u0007\u061c\u200f\u202eb\u2066'
const obeyed = /(?!\n)[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/u

function seenWith(value: ValueSeen): EntrySeen {
  const frame = {
    stamp: '',
    filledBy: evil,
    startedAt: 0,
    storedAt: 0,
    freshUntil: 1,
    loadMs: 1,
    asOf: 0,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    negative: false,
    uncacheable: undefined,
    tags: [evil],
    changedBy: undefined,
    meta: evil,
    codec: 'json',
    compression: undefined,
    encrypted: false,
    apart: false,
    bytes: 1,
    storedBytes: 1,
    value,
  }
  return { key: evil, state: 'fresh', now: 0, leftMs: 1, lease: undefined, frame }
}

it.each<ValueSeen>([
  { type: 'value', value: { [evil]: evil, map: new Map([[evil, 1]]) } },
  { type: 'value', value: { error: new Error(evil) } },
  { type: 'none', why: `Unexpected token in "${evil}"` },
])('inspect shows $type without a character that a terminal obeys', (value) => {
  const how = { paint: paint(false), holder: undefined, full: false }
  expect(entryText(seenWith(value), how)).not.toMatch(obeyed)
  const coloured = entryText(seenWith(value), { ...how, paint: paint(true) })
  // eslint-disable-next-line no-control-regex -- colours are ours
  expect(coloured.replace(/\u001b\[\d+m/g, '')).not.toMatch(obeyed)
})

it('--json prints the same value without a character that a terminal obeys', () => {
  expect(asJson({ [evil]: evil })).not.toMatch(obeyed)
  expect(JSON.parse(asJson({ [evil]: evil }))).toEqual({ [evil]: evil })
})

it('names are escaped with as many digits as are read back', () => {
  expect(plain('\u061c\u009b\n')).toBe('\\u061c\\x9b\\x0a')
})

it.each([
  'redis://user:pa/secret@h',
  'redis://user:secret/x@h',
  'redis://user:secret?x@h',
  'redis://user:secret',
  'redis://h/0?password=secret',
  'redis+cluster://user:secret,h',
  'redis+sentinel://user:secret/x@h/master',
  'unix://user:secret@run/redis.sock',
])('%s is refused, and its password is not told', (url) => {
  expect(() => parseAddress(url)).toThrow(/^--redis: expected (?!.*secret)/)
})

it('a database or a user behind the ? of a URL is not passed over', () => {
  expect(() => parseAddress('redis://h/?db=3')).toThrow('got "db"')
  expect(parseAddress('redis://h/?family=6')).toMatchObject({ db: 0 })
})

it('as many tags are listed as a whole number says', () => {
  const within = { least: 1, most: 9, whole: true }
  expect(() => numberOf('--limit', '1.5', within)).toThrow('expected a whole number from 1 to 9')
})

it('a socket may have a user, a password and a database', () => {
  expect(parseAddress('unix://app:s%2Fecret@/run/redis.sock?db=3')).toMatchObject({
    type: 'socket',
    path: '/run/redis.sock',
    shown: '/run/redis.sock',
    username: 'app',
    password: 's/ecret',
    db: 3,
  })
})

it('what is heard in one roll call is bounded, whoever publishes it', async () => {
  const loads = { running: 0, queued: 0, limit: 1, abandoned: 0 }
  const told = {
    pid: 1,
    host: 'h',
    uptimeMs: 1,
    status: 'ok',
    store: 'up',
    bus: 'up',
    loads,
    left: 0,
  }
  const roll = new Roll()
  const text = (id: string): string =>
    JSON.stringify({ ...told, id, definitions: { ['x'.repeat(250_000)]: {} } })
  const session = {
    hasBus: true,
    rollCall: async () => {
      for (let n = 0; n < 700; n++) roll.hear({ type: 'present', id: `p${n}`, text: text(`p${n}`) })
    },
  }
  roll.onBus('up')
  const heard = await roll.call(session as unknown as StoreSession, 1)
  expect(heard.length).toBeGreaterThan(100)
  expect(heard.length).toBeLessThan(600)
})
