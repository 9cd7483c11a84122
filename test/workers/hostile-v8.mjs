// 100,000 mutated inputs straight into node:v8, in a process of its own: should V8 crash on one of
// them, this process ends by a signal. Deterministic: the seed is in the code.

import { deserialize, serialize } from 'node:v8'

let state = 0x2545f491
function random(below) {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}

const cycle = { name: 'x', list: [1, 2.5, 'é', 5n ** 40n] }
cycle.self = cycle
const samples = [
  cycle,
  [new Map([[cycle, new Set([1, 'a'])]]), new Date(5), /a/giu, new Error('x', { cause: 1 })],
  { body: Buffer.from('body'), floats: Float64Array.of(1, 2), all: new ArrayBuffer(9) },
  Array.from({ length: 40 }, (_, id) => ({ id, name: `n${id}`, tags: ['a', `b${id}`] })),
].map((value) => serialize(value))

let thrown = 0
const tried = 100_000
for (let i = 0; i < tried; i++) {
  const bytes = Buffer.from(samples[i % samples.length])
  for (let n = random(4); n >= 0; n--) bytes[random(bytes.length)] = random(256)
  try {
    deserialize(i % 5 === 0 ? bytes.subarray(0, 1 + random(bytes.length)) : bytes)
  } catch {
    thrown++
  }
}
const polluted = Object.keys(Object.prototype).length > 0 || {}.admin !== undefined
console.log(JSON.stringify({ tried, thrown, polluted, rss: process.memoryUsage().rss }))
