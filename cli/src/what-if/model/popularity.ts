// Which share of the requests each key gets. Every key is simulated by itself, also of the long tail:
// what the tail costs is that its keys are asked for so seldom that they have expired meanwhile.

/** Shares of the whole, the most popular key first. */
export type Shares = Float64Array

/** Zipf's law: the n-th key gets 1/nˢ. With s = 0 all are asked for alike. */
export function zipfShares(keys: number, s: number): Shares {
  const shares = new Float64Array(keys)
  for (let n = 0; n < keys; n++) shares[n] = 1 / (n + 1) ** s
  return normalised(shares)
}

export function sharesOf(counts: Iterable<number>): Shares {
  return normalised(Float64Array.from(counts).sort().reverse())
}

function normalised(shares: Shares): Shares {
  const sum = shares.reduce((total, share) => total + share, 0)
  return shares.map((share) => share / sum)
}
