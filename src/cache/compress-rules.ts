/** The option `compress`: what is compressed in the store, and by what. */
import { byteSize } from '../core/byte-size.ts'
import { invalidOption } from '../core/errors.ts'
import type { Compression, Compressions } from '../ports.ts'
import { entryDefaults } from './option-defaults.ts'
import { checkNames, type Level } from '../core/option-names.ts'

export interface CompressRules {
  /** Encoded values of more bytes than this; Infinity: none. */
  readonly over: number
  readonly by: Compression
}

const level: Level = { names: new Set(['over', 'algorithm']) }

export function usualCompress({ usual }: Compressions): CompressRules {
  return { over: byteSize(entryDefaults.compress.over, 'compress.over'), by: usual }
}

export function compressRules(
  given: unknown,
  before: CompressRules,
  { option, compressions }: { readonly option: string; readonly compressions: Compressions },
): CompressRules {
  if (given === undefined) return before
  if (given === false) return { over: Infinity, by: before.by }
  if (typeof given !== 'object' || given === null) {
    throw invalidOption(option, "false or an object such as '{ over: '2KiB' }'", given)
  }
  const { over, algorithm } = checkNames(given, level, `${option}.`)
  const usualOver = before.over === Infinity ? usualCompress(compressions).over : before.over
  return {
    over: over === undefined ? usualOver : over === 0 ? 0 : byteSize(over, `${option}.over`),
    by: algorithm === undefined ? before.by : compressions.named(algorithm, `${option}.algorithm`),
  }
}
