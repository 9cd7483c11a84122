/** Written into every frame: append only, and none is ever used again. */
export const ids = { gzip: 1, brotli: 2, zstd: 3, lz4: 4, snappy: 5 } as const
