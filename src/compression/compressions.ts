/** All that this process can compress by, and all that it can read: what one writes, any other reads. */
import { invalidOption } from '../core/errors.ts'
import type { Compression, Compressions, Decompression } from '../ports.ts'
import { ids } from './ids.ts'
import { ofPackage, packageOf } from './packages.ts'
import { brotli, gzip } from './zlib.ts'
import { zstd, zstdInJavaScript } from './zstd.ts'

type Name = keyof typeof ids

const names = Object.keys(ids) as readonly Name[]
const inWords = names.map((name) => `'${name}'`).join(', ')

const writers: Readonly<Record<Name, () => Compression | undefined>> = {
  gzip: () => gzip,
  brotli: () => brotli,
  zstd: () => zstd,
  lz4: once(() => ofPackage('lz4')),
  snappy: once(() => ofPackage('snappy')),
}

const readers: Readonly<Record<Name, () => Decompression | undefined>> = {
  ...writers,
  zstd: once(() => zstd ?? zstdInJavaScript()),
}

export const compressions: Compressions = {
  usual: zstd ?? gzip,

  named(name, option) {
    if (!names.includes(name as Name)) throw invalidOption(option, `one of ${inWords}`, name)
    const compression = writers[name as Name]()
    if (compression !== undefined) return compression
    const needed =
      name === 'zstd'
        ? `Node.js 22.15 or 23.8, or newer, where zstd is to be written (this is ${process.version})`
        : `the package ${packageOf[name as keyof typeof packageOf]}, which could not be loaded`
    throw invalidOption(option, needed, name)
  },

  numbered(id) {
    const name = names.find((known) => ids[known] === id)
    return name === undefined ? undefined : readers[name]()
  },
}

/** Of a package: looked for once, when the first that needs it comes. */
function once<T>(load: () => T): () => T | undefined {
  let found: { readonly it: T | undefined } | undefined
  return () => (found ??= { it: attempt(load) }).it
}

function attempt<T>(load: () => T): T | undefined {
  try {
    return load()
  } catch {
    return undefined
  }
}
