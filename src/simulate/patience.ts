/** How long the imagined processes wait for what, in ms; and how many loads each runs at once. */
export const patience = {
  storeTimeout: 100,
  connectTimeout: 500,
  waitTimeout: 3_000,
  loadTimeout: 4_000,
  queue: 1_000,
  outageTtl: 1_500,
  places: 3,
} as const
