/**
 * Builds an epoch beside the one in force, and then puts it in its place by one script. Shards are
 * made before they are announced, and expire unless their builder lives, so that a crash at any point
 * leaves nothing but an epoch that somebody sweeps. Anything that goes wrong leaves the old in force.
 */
import { BitShards } from '../core/bit-shards.ts'
import { BreakwaterError } from '../core/errors.ts'
import { runScript } from '../redis/run-script.ts'
import { scripts } from '../redis/scripts.generated.ts'
import type { Adds } from './adds.ts'
import { hasBloom } from './bloom-shelf.ts'
import { withDeadline } from './deadline.ts'
import { builtKey, epochText, newEpoch, shardKey, type Epoch, type EpochKind } from './epoch.ts'
import type { EpochView } from './epoch-view.ts'
import type { Filter } from './filter.ts'
import { changedMessage } from './guard-message.ts'
import { lost } from './shelf.ts'

/** Up to here bits are collected in this process and sent at once; beyond, in batches of additions. */
const mostCollected = 64 * 1024 * 1024

export interface Plan {
  readonly capacity: number
  readonly errorRate: number
  /** Copies can be made of bitmaps alone. */
  readonly onlyBitmaps: boolean
  readonly channel: string
  isClosed(): boolean
}

/** `first`: only where none was ever built. False: there was one, and nothing was read of `batches`. */
export async function buildEpoch(
  { filter, adds, plan }: { filter: Filter; adds: Adds; plan: Plan },
  batches: AsyncIterable<readonly string[]>,
  mode: 'first' | 'anew',
): Promise<boolean> {
  const { keeper } = filter
  const kind = await inTime(filter, kindFor(filter, plan))
  const epoch = newEpoch(plan, kind, keeper.server)
  const view = filter.viewOf(epoch)
  const builder = new Builder(filter, view, plan)
  try {
    await builder.create()
    if (!(await builder.open(mode))) {
      await builder.drop()
      return false
    }
    await builder.wait(filter.pace.noticeMs)
    await builder.fill(batches, adds)
    await builder.flip()
    return true
  } catch (error) {
    await builder.abandon()
    throw error
  } finally {
    builder.end()
    keeper.poll()
  }
}

async function kindFor({ keeper, commands, name }: Filter, plan: Plan): Promise<EpochKind> {
  await keeper.settled()
  return !plan.onlyBitmaps && (await hasBloom(commands, name)) ? 'bloom' : 'bitmap'
}

/** One step; a shard's at the most. What fails in Redis is told as such, whatever it was. */
async function inTime<T>({ clock, pace, name }: Filter, step: Promise<T>): Promise<T> {
  try {
    return await withDeadline(clock, pace.stepMs, step)
  } catch (error) {
    if (error instanceof BreakwaterError) throw error
    throw new BreakwaterError('STORE_UNAVAILABLE', `guard ${name}: it cannot be built now`, {
      cause: error,
    })
  }
}

class Builder {
  readonly #filter: Filter
  readonly #view: EpochView
  readonly #plan: Plan
  /** At least so many were seen in each shard: fewer at the end, and something was rolled back. */
  readonly #counts: Float64Array
  #cancelBeat: () => void = () => {}
  #prolonged: Promise<void> = Promise.resolve()
  /** What is about to be in force must not expire. */
  #isKept = false
  #ended = false
  #failed: Error | undefined

  constructor(filter: Filter, view: EpochView, plan: Plan) {
    this.#filter = filter
    this.#view = view
    this.#plan = plan
    this.#counts = new Float64Array(view.epoch.shards)
  }

  get #epoch(): Epoch {
    return this.#view.epoch
  }

  async create(): Promise<void> {
    const { pace } = this.#filter
    const shelf = this.#filter.shelfOf(this.#epoch)
    await this.#eachShard((shard) => shelf.create(this.#view, shard, pace.shardMs))
  }

  /** Waits while somebody else builds. False: only the first was wanted, and there was one. */
  async open(mode: 'first' | 'anew'): Promise<boolean> {
    const { commands, recordKey, pace } = this.#filter
    for (;;) {
      const args = [this.#epoch.id, epochText(this.#epoch), String(pace.builderMs), mode]
      const opened = runScript(commands, scripts.guardOpen, { keys: [recordKey], args })
      const [answer, ms] = (await inTime(this.#filter, opened)) as readonly unknown[]
      switch (String(answer)) {
        case 'ok':
          this.#beatLater()
          await inTime(this.#filter, this.#filter.keeper.fresh())
          return true
        case 'exists':
          return false
        default:
          await this.wait(Math.min(Number(ms) + 1, pace.pollMs / 4))
          await this.#prolong()
      }
    }
  }

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#filter.clock.after(Math.ceil(ms), resolve))
    this.#check()
  }

  async fill(batches: AsyncIterable<readonly string[]>, adds: Adds): Promise<void> {
    const { kind, shards, shardBits } = this.#epoch
    const isCollected = kind === 'bitmap' && (shards * shardBits) / 8 <= mostCollected
    const collected = isCollected ? new BitShards(this.#epoch) : undefined
    const added = new Float64Array(shards)
    for await (const some of batches) {
      this.#check()
      if (collected === undefined) {
        await inTime(this.#filter, adds.writeTo(this.#epoch, some))
        continue
      }
      for (const text of some) {
        const digest = this.#view.passingDigest(text)
        if (collected.add(digest)) added[this.#view.shardOf(digest)]! += 1
      }
    }
    if (collected === undefined) return
    await this.#eachShard(async (shard) => {
      const merged = { bits: collected.shard(shard), added: added[shard]! }
      const count = await this.#filter.bitmaps.merge(this.#view, shard, merged)
      if (count === lost) throw this.#gone()
      this.#counts[shard] = count
      this.#view.saw(shard, count)
    })
  }

  /** Nothing of it is missing, and it expires no more. */
  async flip(): Promise<void> {
    const { commands, recordKey, name, keeper } = this.#filter
    const shelf = this.#filter.shelfOf(this.#epoch)
    this.#isKept = true
    await this.#prolonged
    await this.#eachShard(async (shard) => {
      await commands.keyed('PERSIST', shardKey(name, this.#epoch.id, shard), [])
      const count = await shelf.count(this.#view, shard)
      const isWhole = count === undefined || count >= this.#counts[shard]!
      if (!isWhole || this.#view.isLost(shard)) throw this.#gone()
      this.#filter.saw(this.#view, { shard, count, before: 0 })
    })
    await inTime(this.#filter, keeper.settled())
    if (this.#epoch.server !== keeper.server) throw this.#gone()
    this.#check()
    const args = [this.#epoch.id, this.#plan.channel, changedMessage(name)]
    const flipped = runScript(commands, scripts.guardFlip, { keys: [recordKey], args })
    if (Number(await inTime(this.#filter, flipped)) !== 1) throw this.#gone()
    await inTime(this.#filter, commands.keyed('SET', builtKey(name), ['1']))
    await inTime(this.#filter, keeper.fresh())
  }

  /** Where it is not what is being built, it is in force (and only the answer was lost), or expires. */
  async abandon(): Promise<void> {
    const { clock, pace } = this.#filter
    const abandoned = withDeadline(clock, pace.stepMs, this.#filter.abandon(this.#epoch))
    if (await abandoned.catch(() => false)) await this.drop()
  }

  async drop(): Promise<void> {
    await this.#filter.sweep(this.#epoch.id, this.#epoch)
  }

  end(): void {
    this.#ended = true
    this.#cancelBeat()
  }

  #check(): void {
    if (this.#failed !== undefined) throw this.#failed
    if (!this.#plan.isClosed()) return
    throw new BreakwaterError('CLOSED', `guard ${this.#filter.name}: closed while it was built`)
  }

  #beatLater(): void {
    const { clock, pace, commands, recordKey } = this.#filter
    if (this.#ended) return
    const args = [this.#epoch.id, String(pace.builderMs)]
    this.#cancelBeat = clock.after(Math.ceil(pace.builderMs / 4), () => {
      runScript(commands, scripts.guardBeat, { keys: [recordKey], args }).then(
        async (mine) => {
          if (Number(mine) !== 1) this.#failed ??= this.#gone()
          else await this.#prolong()
          this.#beatLater()
        },
        () => this.#beatLater(),
      )
    })
  }

  #prolong(): Promise<void> {
    const { commands, name, pace } = this.#filter
    const life = [String(pace.shardMs)]
    this.#prolonged = this.#eachShard(async (shard) => {
      if (this.#isKept) return
      await commands.keyed('PEXPIRE', shardKey(name, this.#epoch.id, shard), life)
    }).catch(() => {})
    return this.#prolonged
  }

  #eachShard(run: (shard: number) => Promise<unknown>): Promise<void> {
    return this.#filter.eachShard(this.#epoch, (shard) => inTime(this.#filter, run(shard)))
  }

  #gone(): BreakwaterError {
    return new BreakwaterError(
      'STORE_UNAVAILABLE',
      `guard ${this.#filter.name}: what was built is not whole (evicted, flushed, another builder or ` +
        'another server); what was in force before stays',
    )
  }
}
