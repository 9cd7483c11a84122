/**
 * The shared filter as one process sees it: its record, and what it knows of each epoch. Everything
 * that makes an epoch unfit to refuse by is noticed here.
 */
import type { Clock } from '../ports.ts'
import type { RedisCommands, RedisConnection } from '../redis/commands.ts'
import { runScript } from '../redis/run-script.ts'
import { scripts } from '../redis/scripts.generated.ts'
import { BitmapShelf } from './bitmap-shelf.ts'
import { BloomShelf } from './bloom-shelf.ts'
import { recordKey, shardKey, type Epoch } from './epoch.ts'
import { EpochView } from './epoch-view.ts'
import { changedMessage } from './guard-message.ts'
import type { Pace } from './pace.ts'
import { RecordKeeper } from './record-keeper.ts'
import { listedIn, type GuardRecord } from './record.ts'
import { lost, type Count, type Shelf } from './shelf.ts'

export interface FilterOptions {
  readonly connection: RedisConnection
  readonly clock: Clock
  readonly name: string
  readonly channel: string
  readonly pace: Pace
}

export class Filter {
  readonly bitmaps: BitmapShelf
  readonly keeper: RecordKeeper
  readonly #options: FilterOptions
  readonly #blooms: BloomShelf
  readonly #views = new Map<string, EpochView>()
  readonly #sweeping = new Set<string>()
  readonly #listeners = new Set<(record: GuardRecord, before: GuardRecord | undefined) => void>()
  #before: GuardRecord | undefined
  #wasBuilt = false
  #sampledAt = -Infinity
  #sampled = -1

  constructor(options: FilterOptions) {
    this.#options = options
    const { connection, name, channel } = options
    this.bitmaps = new BitmapShelf(connection.commands, name, channel)
    this.#blooms = new BloomShelf(connection.commands, name)
    this.keeper = new RecordKeeper({
      ...options,
      commands: connection.commands,
      onRecord: (record) => this.#take(record),
    })
  }

  get commands(): RedisCommands {
    return this.#options.connection.commands
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get pace(): Pace {
    return this.#options.pace
  }

  get name(): string {
    return this.#options.name
  }

  get recordKey(): string {
    return recordKey(this.name)
  }

  /** It was there once, as far as this process knows: one that is not there now is lost. */
  get wasBuilt(): boolean {
    return this.#wasBuilt
  }

  /** Of the epoch in force; `undefined`: none is, or nothing is known yet. */
  get current(): EpochView | undefined {
    const epoch = this.keeper.present?.current
    return epoch === undefined ? undefined : this.viewOf(epoch)
  }

  viewOf(epoch: Epoch): EpochView {
    const known = this.#views.get(epoch.id)
    if (known !== undefined) return known
    const view = new EpochView(epoch)
    this.#views.set(epoch.id, view)
    return view
  }

  shelfOf({ kind }: Epoch): Shelf {
    return kind === 'bitmap' ? this.bitmaps : this.#blooms
  }

  onRecord(run: (record: GuardRecord, before: GuardRecord | undefined) => void): void {
    this.#listeners.add(run)
  }

  /**
   * What a shard says that it has, beside what this process had seen when it asked: fewer means that
   * additions were rolled back. Then nobody may be refused by this epoch any more.
   */
  saw(view: EpochView, seen: { shard: number; count: Count; before: number }): void {
    if (seen.count === undefined) return
    if (seen.count >= seen.before) return view.saw(seen.shard, seen.count)
    view.lose(seen.shard)
    this.condemn(view.epoch)
  }

  /** For everyone. Meanwhile, and should it fail, this process is not refused by it. */
  condemn(epoch: Epoch): void {
    const view = this.viewOf(epoch)
    for (let shard = 0; shard < epoch.shards; shard++) view.lose(shard)
    runScript(this.commands, scripts.guardCondemn, {
      keys: [this.recordKey],
      args: [epoch.id, this.#options.channel, changedMessage(this.name)],
    }).then(
      () => this.keeper.poll(),
      () => {},
    )
  }

  /** Takes away the shards of an epoch, and then its line in the record. */
  async sweep(id: string, epoch: Epoch | undefined): Promise<void> {
    if (this.#sweeping.has(id)) return
    this.#sweeping.add(id)
    try {
      if (epoch !== undefined) await this.#dropShards(epoch)
      await this.commands.keyed('HDEL', this.recordKey, [`old:${id}`])
    } catch {
      // The next one who reads the record tries again.
    } finally {
      this.#sweeping.delete(id)
    }
  }

  /** Runs for each shard, a few at a time. */
  async eachShard({ shards }: Epoch, run: (shard: number) => Promise<unknown>): Promise<void> {
    const atOnce = 64
    for (let from = 0; from < shards; from += atOnce) {
      const length = Math.min(atOnce, shards - from)
      await Promise.all(Array.from({ length }, (_, n) => run(from + n)))
    }
  }

  close(): void {
    this.keeper.close()
  }

  #take(record: GuardRecord): void {
    const before = this.#before
    this.#before = record
    if (record.wasBuilt) this.#wasBuilt = true
    const { current } = record
    const { server } = this.keeper
    if (current !== undefined && current.server !== '' && server !== '') {
      if (current.server !== server) this.condemn(current)
    }
    this.#forget(record, before)
    for (const { id, epoch, ageMs } of record.old) {
      if (ageMs >= this.pace.graceMs) void this.sweep(id, epoch)
    }
    if (record.isNextForsaken && record.next !== undefined) void this.abandon(record.next)
    if (current !== undefined) this.#sample(this.viewOf(current), record.askedAt)
    for (const run of this.#listeners) run(record, before)
  }

  /** One shard after another, whether or not anybody asks: for `info()`, and to notice a loss early. */
  #sample(view: EpochView, now: number): void {
    if (now < this.#sampledAt + this.pace.pollMs) return
    this.#sampledAt = now
    this.#sampled += 1
    const shard = this.#sampled % view.epoch.shards
    const before = view.countOf(shard)
    const { connection } = this.keeper
    this.shelfOf(view.epoch)
      .count(view, shard)
      .then(
        (count) => {
          if (connection !== this.keeper.connection) return
          if (count === lost) view.lose(shard)
          else this.saw(view, { shard, count, before })
        },
        () => {},
      )
  }

  /** True: it was the one that is being built, and is none any more. Never rejects. */
  async abandon({ id }: Epoch): Promise<boolean> {
    const call = { keys: [this.recordKey], args: [id] }
    try {
      return Number(await runScript(this.commands, scripts.guardAbandon, call)) === 1
    } catch {
      return false
    }
  }

  /** What is not listed any more. Was it in force, then its record is lost, and nobody else sweeps. */
  #forget(record: GuardRecord, before: GuardRecord | undefined): void {
    const listed = new Set(listedIn(record).map(({ id }) => id))
    const orphan = before?.current
    if (orphan !== undefined && !listed.has(orphan.id)) this.#dropShards(orphan).catch(() => {})
    for (const id of this.#views.keys()) if (!listed.has(id)) this.#views.delete(id)
  }

  async #dropShards(epoch: Epoch): Promise<void> {
    await this.eachShard(epoch, (shard) =>
      this.commands.keyed('UNLINK', shardKey(this.name, epoch.id, shard), []),
    )
  }
}
