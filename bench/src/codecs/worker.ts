// One process, one payload: every codec, or every compression, as sides that take turns, beside
// plain JSON. What does not come back equal is not timed.

import { deepStrictEqual } from 'node:assert'
import { answer } from '../child/child.ts'
import { problemOf } from '../measure/report.ts'
import { interleave, type Side } from '../pairs/interleave.ts'
import { codings, compressionOf, type Coding, type CodingName } from './internals.ts'
import { payloads, type Payload, type Product, type ProductPage } from './payloads.ts'
import { algorithms, compressed, plainName, plainTextName, sideName } from './plan.ts'
import type { CodecPlan, CodecResult } from './plan.ts'
import { pageMessage, productMessage } from './product-message.ts'

const variants = 8
/** The latest result, so that no compiler finds that nothing is done with it. */
const latest: { of?: unknown } = {}

await answer(async ({ payload: name, what, effort }: CodecPlan): Promise<CodecResult> => {
  const payload: Payload = payloads[name]
  const values = Array.from({ length: variants }, (_, seed) => payload.make(seed))
  const found =
    what === 'codecs' ? codecSides(payload, values, messagesOf(name, values)) : packSides(values)
  return { ...found, timings: await interleave(found.sides, effort) }
})

interface Found {
  readonly sides: Side[]
  readonly bytes: Record<string, number>
  readonly problems: Record<string, string>
}

interface Messages {
  readonly coding: CodingName
  readonly values: readonly unknown[]
}

function messagesOf(name: string, values: readonly unknown[]): Messages | undefined {
  if (name === 'product') {
    return {
      coding: 'protobuf(Product)',
      values: values.map((it) => productMessage(it as Product)),
    }
  }
  if (name !== 'page' && name !== 'list') return undefined
  return { coding: 'protobuf(Page)', values: values.map((it) => pageMessage(it as ProductPage)) }
}

function codecSides(
  payload: Payload,
  values: readonly unknown[],
  messages: Messages | undefined,
): Found {
  const found: Found = { sides: [], bytes: {}, problems: {} }
  const plain = plainOf(payload)
  addCoding(found, plain, values)
  const texts = values.map((value) => plain.text(value))
  found.bytes[plainTextName] = found.bytes[plain.name] ?? Number.NaN
  found.sides.push(side(sideName(plainTextName, 'decode'), texts, plain.parse))
  addCoding(found, codings['json()'](), values)
  addCoding(found, codings['msgpack()'](), values)
  if (messages) addCoding(found, codings[messages.coding](), messages.values)
  addCoding(found, codings['v8()'](), values)
  addCoding(found, codings['encrypted(msgpack())'](), values)
  return found
}

/** As an application does by itself: a Buffer to the client, a Buffer from it. */
function plainOf({ plain }: Payload) {
  const to = plain?.to as ((value: unknown) => unknown) | undefined
  const from = plain?.from as ((data: unknown) => unknown) | undefined
  const text = (value: unknown): string => JSON.stringify(to ? to(value) : value)
  const parse = (json: string): unknown => {
    const data: unknown = JSON.parse(json)
    return from ? from(data) : data
  }
  const decode = (bytes: Uint8Array): unknown => parse((bytes as Buffer).toString())
  const encode = (value: unknown): Buffer => Buffer.from(text(value))
  return { name: plainName, encode, decode, decodeFrozen: decode, text, parse }
}

function addCoding({ sides, bytes, problems }: Found, coding: Coding, values: readonly unknown[]) {
  const { name, encode, decode, decodeFrozen } = coding
  try {
    const all = values.map(encode)
    for (const [at, one] of all.entries()) {
      deepStrictEqual(decode(one), values[at])
      deepStrictEqual(decodeFrozen(one), values[at])
    }
    bytes[name] = meanLength(all)
    sides.push(side(sideName(name, 'encode'), values, encode))
    sides.push(side(sideName(name, 'decode'), all, decode))
    if (name !== plainName) sides.push(side(sideName(name, 'frozen'), all, decodeFrozen))
  } catch (error) {
    problems[name] = problemOf(error)
  }
}

function packSides(values: readonly unknown[]): Found {
  const found: Found = { sides: [], bytes: {}, problems: {} }
  const { sides, bytes, problems } = found
  for (const codingName of compressed) {
    const { encode, decodeFrozen } = codings[codingName]()
    const all = values.map(encode)
    bytes[codingName] = meanLength(all)
    sides.push(side(sideName(codingName, 'frozen'), all, decodeFrozen))
    for (const algorithm of algorithms) {
      const name = `${codingName}, ${algorithm}`
      try {
        const { compress, decompress } = compressionOf(algorithm)
        const small = all.map((one) => ({ bytes: compress(one), length: one.length }))
        for (const [at, one] of small.entries()) {
          deepStrictEqual(Buffer.from(decompress(one.bytes, one.length)), Buffer.from(all[at]!))
        }
        bytes[name] = meanLength(small.map((one) => one.bytes))
        sides.push(side(sideName(name, 'compress'), all, compress))
        sides.push(
          side(sideName(name, 'decompress'), small, (one) => decompress(one.bytes, one.length)),
        )
      } catch (error) {
        problems[name] = problemOf(error)
      }
    }
  }
  return found
}

function meanLength(all: readonly Uint8Array[]): number {
  return Math.round(all.reduce((sum, { length }) => sum + length, 0) / all.length)
}

function side<Input>(name: string, inputs: readonly Input[], run: (input: Input) => unknown): Side {
  return {
    name,
    run: async (operations) => {
      for (let at = 0; at < operations; at += 1) latest.of = run(inputs[at % variants]!)
    },
  }
}
