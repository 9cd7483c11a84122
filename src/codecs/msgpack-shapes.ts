/**
 * Shapes of records: their names, in order. A shape is found by going down a tree, name by name, and
 * each step tries first where the last one went. The tree outlives the value, and with it what is
 * known of the names; ids do not. There are 64: a new shape takes over the oldest one's id.
 */
import { maxShapes } from './msgpack-check.ts'
import { format } from './msgpack-format.ts'
import type { Output } from './msgpack-output.ts'

const ids = 64
const firstId = 0x40
/** About the bytes of a name in the tree, besides its characters. */
const nameWeight = 100
/** Where the tree weighs more, no shape is added to it. */
const maxWeight = 32 * 1024 ** 2
/** A heavier one is not kept for the next value. */
const keptWeight = 1024 ** 2

class Shape {
  readonly name: string
  readonly parent: Shape | undefined
  /** The child that was asked for last. Without `children` it is the only one. */
  last: Shape | undefined = undefined
  children: Map<string, Shape> | undefined = undefined
  /** In the value of that number. */
  id = 0
  value = 0
  /** As MessagePack; from the second time that it is needed. */
  definition: Buffer | undefined = undefined
  names: readonly string[] | undefined = undefined

  constructor(name: string, parent: Shape | undefined) {
    this.name = name
    this.parent = parent
  }
}

export class Shapes {
  readonly #output: Output
  #root = new Shape('', undefined)
  #weight = 0
  /** Which value this is, in the order of time. */
  #value = 1
  #defined = 0
  #byId: Shape[] = []

  constructor(output: Output) {
    this.#output = output
  }

  /** After each value. */
  next(): void {
    this.#value++
    this.#defined = 0
    if (this.#weight <= keptWeight) return
    this.#root = new Shape('', undefined)
    this.#weight = 0
    this.#byId = []
  }

  /**
   * Writes which shape the record has, and gives its names; its fields must follow, in their order.
   * `undefined`: it has a name that is not kept, or there are too many shapes; nothing is written.
   */
  write(record: object): readonly string[] | undefined {
    let shape = this.#root
    // for-in, since it is several times as fast as keys.
    for (const name in record) {
      const { last } = shape
      const child = last !== undefined && last.name === name ? last : this.#child(shape, name)
      if (child === undefined) return undefined
      shape = child
    }
    if (shape.value === this.#value) {
      this.#output.token(shape.id)
      return shape.names
    }
    return this.#defined < maxShapes ? this.#define(shape) : undefined
  }

  #child(shape: Shape, name: string): Shape | undefined {
    let child = shape.children?.get(name)
    if (child === undefined) {
      const weight = this.#weight + nameWeight + name.length
      if (weight > maxWeight || !format.keepsName(name)) return undefined
      this.#weight = weight
      child = new Shape(name, shape)
      if (shape.last !== undefined) {
        shape.children ??= new Map([[shape.last.name, shape.last]])
        shape.children.set(name, child)
      }
    }
    shape.last = child
    return child
  }

  #define(shape: Shape): readonly string[] {
    const output = this.#output
    const n = this.#defined++ % ids
    const id = firstId + n
    const before = this.#byId[n]
    if (before?.value === this.#value && before.id === id) before.value = 0
    this.#byId[n] = shape
    shape.id = id
    shape.value = this.#value
    output.token(0xd4)
    output.token(0x72)
    output.token(id)
    if (shape.definition !== undefined) output.raw(shape.definition)
    else {
      const isFirst = shape.names === undefined
      const from = output.at
      const names = (shape.names ??= namesOf(shape))
      output.array(names.length)
      for (const name of names) output.text(name)
      if (!isFirst) shape.definition = output.copyFrom(from)
    }
    return shape.names!
  }
}

function namesOf(shape: Shape): string[] {
  const names: string[] = []
  for (let at = shape; at.parent !== undefined; at = at.parent) names.push(at.name)
  return names.reverse()
}
