/** How long things take between processes that share a filter. One place, so that tests may hurry. */
export interface Pace {
  /** How often the record is read, ± a quarter. */
  readonly pollMs: number
  /** An epoch that is not asked any more stays that long, for those who have not heard of it yet. */
  readonly graceMs: number
  /** Between announcing an epoch and reading what goes into it: longer than `pollMs` with its quarter. */
  readonly noticeMs: number
  /** A builder that has not been heard of for so long has lost its turn. */
  readonly builderMs: number
  /** A shard that is being built expires after that, unless its builder lives. */
  readonly shardMs: number
  /** How long after an addition it is repeated. */
  readonly repeatMs: readonly number[]
  /** After Redis did not answer in time it is not asked for so long. */
  readonly silenceMs: number
  /** How long an addition waits for Redis. */
  readonly writeMs: number
  /** How long a step of a rebuild waits for Redis. */
  readonly stepMs: number
  /** How often what Redis did not take is tried again. */
  readonly retryMs: number
  /** How often the bus proves that it is heard; twice that without proof means deaf. */
  readonly beatMs: number
}

export const usualPace: Pace = {
  pollMs: 2_000,
  graceMs: 10_000,
  noticeMs: 3_000,
  builderMs: 15_000,
  shardMs: 600_000,
  repeatMs: [5_000, 30_000],
  silenceMs: 1_000,
  writeMs: 2_000,
  stepMs: 10_000,
  retryMs: 1_000,
  beatMs: 1_000,
}
