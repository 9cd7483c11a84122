/** What a guard tells of itself, without asking anybody. */
export interface GuardInfo {
  readonly kind: 'memory' | 'bitmap' | 'bloom'
  /**
   * `unbuilt`: nothing was ever in it, and everything may exist. `building`: the same, until the
   * first build is done. `ready`: it refuses. `lost`: all of it or a part of it is gone, and what is
   * gone refuses nothing until the next `rebuild`.
   */
  readonly state: 'unbuilt' | 'building' | 'ready' | 'lost'
  /** Ids in it, about: one that was taken for known when it was added is not counted. */
  readonly added: number
  /** What it is made for. Of a shared one that is there: as it was built. */
  readonly capacity: number
  /** Of the bits. */
  readonly bytes: number
  /** Share of the ids that do not exist and are let through, with what is in it now. */
  readonly errorRate: number
}
