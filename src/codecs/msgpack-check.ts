/** A look over a whole value of MessagePack: what is in it, and that nothing else is. */
import { malformed, Scan } from './msgpack-scan.ts'

/** More shapes than this are written as maps, for which nothing is compiled. */
export const maxShapes = 4_096

export interface Checked {
  /** A mark was seen: the decoded value must be revived. */
  readonly marked: boolean
  /** Objects written as maps, without a shape. */
  readonly maps: boolean
  readonly shapes: number
}

/** Throws when the bytes are truncated, go on after the value, or are not of our making. */
export function checkMessagePack(bytes: Buffer): Checked {
  const scan = new Scan(bytes)
  if (!scan.skip(bytes.length)) throw malformed('truncated')
  if (scan.at !== bytes.length) throw malformed('something after the value')
  return scan
}
