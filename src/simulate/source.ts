/**
 * The slow thing behind the cache: rows with a version each, which grows with every write, and a
 * record of every value that was ever made of one, by a load or by `set`.
 */
export interface Row {
  readonly id: number
  /** Name of its definition. */
  readonly of: string
  readonly arg: string
  readonly key: string
  readonly tag: string
  /** The tag is the definition's, whatever the value. */
  readonly hasFixedTag: boolean
  version: number
  /** A load of it was not to be kept, or for one call alone: since then callers load side by side. */
  wasUncacheable: boolean
}

/** What loaders give: it names the row, the version and where it comes from. */
export interface Value {
  readonly r: number
  readonly v: number
  readonly o: number
  readonly gone?: boolean
}

/** Where a value comes from. */
export interface Origin {
  readonly id: number
  readonly kind: 'load' | 'set'
  readonly process: number
  readonly row: number
  readonly version: number
  readonly beganAt: number
  /** Nothing that was changed after this instant is in it: its load began then, or it was written. */
  asOf: number
  endedAt: number | undefined
  /** Of a load: its loader has not settled. */
  isRunning: boolean
  /** Of a load: its signal has aborted, so that nobody waits for it. */
  isGivenUp: boolean
  /** Not to be stored: for those who had joined, or the one who began it. */
  kept: 'stored' | 'shared' | 'private'
}

export class Source {
  readonly rows: Row[] = []
  readonly origins: Origin[] = []
  readonly byKey = new Map<string, Row>()

  add(row: Omit<Row, 'id' | 'version' | 'wasUncacheable'>): Row {
    const added: Row = { ...row, id: this.rows.length, version: 1, wasUncacheable: false }
    this.rows.push(added)
    this.byKey.set(added.key, added)
    return added
  }

  originate(kind: Origin['kind'], process: number, row: Row, now: number): Origin {
    const origin: Origin = {
      id: this.origins.length,
      kind,
      process,
      row: row.id,
      version: row.version,
      beganAt: now,
      asOf: now,
      endedAt: undefined,
      isRunning: kind === 'load',
      isGivenUp: false,
      kept: 'stored',
    }
    this.origins.push(origin)
    return origin
  }

  valueOf(origin: Origin): Value {
    return { r: origin.row, v: origin.version, o: origin.id }
  }
}
