// The reader of pgoutput's messages, by bytes as the manual describes them; and that no bytes at all
// make it do anything but read or throw.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lsnOf } from '../../src/postgres/lsn.ts'
import { parsePayload } from '../../src/postgres/payload.ts'
import { readMessage } from '../../src/postgres/pgoutput.ts'

const int32 = (n: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(n)
  return bytes
}
const int16 = (n: number): Buffer => int32(n).subarray(2)
const int64 = (n: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(n)
  return bytes
}
const text = (value: string): Buffer => Buffer.from(value + '\0')
const join = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
const cell = (value: string): Buffer => join('t', int32(Buffer.byteLength(value)), value)

describe('a message of pgoutput', () => {
  it.each([
    ['begin', join('B', int64(5n), int64(0n), int32(7)), { type: 'begin' }],
    [
      'commit',
      join('C', '\0', int64(5n), int64(0xff_0000_0001n), int64(1_500n)),
      { type: 'commit', end: 0xff_0000_0001n, atMs: 946_684_800_001 },
    ],
    [
      'relation',
      join('R', int32(9), text('public'), text('é"'), 'f', int16(2), '\x01', text('id'), int32(23), int32(0), '\0', text('n'), int32(25), int32(4)), // prettier-ignore
      {
        type: 'relation',
        relation: {
          oid: 9,
          schema: 'public',
          table: 'é"',
          identity: 'f',
          columns: [
            { isKey: true, name: 'id', type: 23 },
            { isKey: false, name: 'n', type: 25 },
          ],
        },
      },
    ],
    ['insert', join('I', int32(9), 'N', int16(3), cell('€'), 'n', 'u'), { type: 'insert', oid: 9, row: ['€', null, undefined] }], // prettier-ignore
    ['update', join('U', int32(9), 'N', int16(1), cell('')), { type: 'update', oid: 9, row: [''], old: undefined }], // prettier-ignore
    ['update with a key', join('U', int32(9), 'K', int16(1), cell('1'), 'N', int16(1), cell('2')), { type: 'update', oid: 9, row: ['2'], old: ['1'] }], // prettier-ignore
    ['update with an old row', join('U', int32(9), 'O', int16(1), cell('1'), 'N', int16(1), cell('2')), { type: 'update', oid: 9, row: ['2'], old: ['1'] }], // prettier-ignore
    [
      'delete',
      join('D', int32(9), 'K', int16(1), cell('1')),
      { type: 'delete', oid: 9, old: ['1'] },
    ],
    [
      'truncate',
      join('T', int32(2), '\x01', int32(9), int32(10)),
      { type: 'truncate', oids: [9, 10] },
    ],
    ['type', join('Y', int32(1), text('a'), text('b')), { type: 'other' }],
    ['origin', join('O', int64(1n), text('a')), { type: 'other' }],
  ])('%s', (_, bytes, message) => {
    expect(readMessage(bytes)).toEqual(message)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['another type', Buffer.from('Z')],
    ['a row that ends early', join('I', int32(9), 'N', int16(2), cell('1'))],
    ['a value that ends early', join('I', int32(9), 'N', int16(1), 't', int32(5), 'ab')],
    ['a binary value', join('I', int32(9), 'N', int16(1), 'b', int32(1), 'a')],
    ['an insert without a row', join('I', int32(9), 'X', int16(0))],
    ['a name without an end', join('R', int32(9), 'public')],
  ])('of %s is refused', (_, bytes) => {
    expect(() => readMessage(bytes)).toThrow(Error)
  })

  it('of any bytes is read or refused', () => {
    const start = fc.constantFrom(...'BCRIUDTOYM')
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), (type, rest) => {
        try {
          readMessage(join(type, Buffer.from(rest)))
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      }),
    )
  })
})

describe('a notification', () => {
  it('of anybody else is not taken for ours', () => {
    for (const payload of [
      '',
      'x',
      '5',
      'null',
      '[]',
      '{}',
      '{"t":["a"],"c":[]}',
      '{"t":"a","c":[]}',
    ]) {
      expect(parsePayload(payload)).toBeUndefined()
    }
  })

  it('that is not whole says that something has changed', () => {
    const head = '{"t":["a","b"],"c":["id"]'
    for (const rest of [
      ',"k":"x"}',
      '}',
      ',"k":"u","y":["23"],"r":[[["1"]]]}',
      ',"k":"i","y":["23"],"r":[[1]]}',
    ]) {
      expect(parsePayload(head + rest)).toMatchObject({ kind: 'something', rows: [] })
    }
  })

  it('of any JSON is read or not ours', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        parsePayload(JSON.stringify(value))
      }),
    )
  })
})

it('a position in the log is read from its text', () => {
  expect(lsnOf('16/B374D848')).toBe(0x16_b374_d848n)
  expect(lsnOf('0/0')).toBe(0n)
})
