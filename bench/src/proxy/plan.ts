// What is measured, with which numbers.

export const delayMs = 100

/** Connections that ask for one cold URL at once. */
export const burst = 500

export const bursts = 5

/** Connections that ask again as soon as they are answered. */
export const lanes = 32

/** What each proxy answers before it is measured. */
export const warmRequests = 30_000

/** In the stale period: requests per second, by schedule. */
export const pacedPerSecond = 400

export const sizes = { '1 KB': 1_024, '50 KB': 51_200 } as const

export type Size = keyof typeof sizes

/** Fresh for a second, then stale: a page of which one version per second is made. */
export const staleControl = 'max-age=1, stale-while-revalidate=60'
