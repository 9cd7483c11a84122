/**
 * Reads of one turn of the event loop go out as one command: GET for one key, MGET for several; in
 * a cluster one for each master, since none waits for what another one answers. Under load most of a
 * read's cost is the client's and the kernel's per command, not per key. No read waits for another
 * turn: what is asked for in this one is sent at its end.
 */
import { chunksOf, groupedBy } from '../core/parts-of.ts'
import type { Bytes, RedisCommands } from './commands.ts'
import { isWrongType, refusalOf } from './refusal.ts'

interface Waiting {
  readonly key: string
  resolve(frame: Bytes | undefined): void
  reject(error: unknown): void
}

const foreign = Uint8Array.of(0)

/** A reply of more than this many frames holds up what is behind it. */
const most = 128

export class ReadBatch {
  readonly #commands: RedisCommands
  #waiting: Waiting[] = []
  /** The user may be allowed GET and not MGET. */
  #mayBatch = true

  constructor(commands: RedisCommands) {
    this.#commands = commands
  }

  /** Another type of data under the key is no frame of ours. (MGET calls it nothing at all.) */
  read(key: string): Promise<Bytes | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject })
      if (this.#waiting.length === 1) process.nextTick(this.#send)
      else if (this.#waiting.length === most) this.#send()
    })
  }

  /** In one command, or in several of the most keys that one may have. */
  async readMany(keys: readonly string[]): Promise<readonly (Bytes | null | undefined | Error)[]> {
    if (!this.#mayBatch || keys.length === 1) return this.#oneByOne(keys)
    try {
      const asked = chunksOf(keys, most).map((chunk) => this.#commands.mget(chunk))
      const replies = await Promise.all(asked)
      return replies.length === 1 ? replies[0]! : replies.flat()
    } catch (error) {
      if (refusalOf(error) === undefined) throw error
      this.#mayBatch = false
      return this.#oneByOne(keys)
    }
  }

  async #oneByOne(keys: readonly string[]): Promise<readonly (Bytes | undefined | Error)[]> {
    const settled = await Promise.allSettled(keys.map((key) => this.read(key)))
    return settled.map((each) =>
      each.status === 'fulfilled' ? each.value : (each.reason as Error),
    )
  }

  readonly #send = (): void => {
    const batch = this.#waiting
    if (batch.length === 0) return
    this.#waiting = []
    if (!this.#mayBatch || batch.length === 1) for (const waiting of batch) this.#one(waiting)
    else for (const part of byServer(this.#commands, batch)) this.#many(part)
  }

  #one({ key, resolve, reject }: Waiting): void {
    this.#commands.get(key).then(
      (frame) => resolve(frame ?? undefined),
      (error: unknown) => (isWrongType(error) ? resolve(foreign) : reject(error)),
    )
  }

  #many(batch: readonly Waiting[]): void {
    this.#commands.mget(batch.map(({ key }) => key)).then(
      (frames) => {
        for (let n = 0; n < batch.length; n++) {
          const frame = frames[n]
          if (frame instanceof Error) batch[n]!.reject(frame)
          else batch[n]!.resolve(frame ?? undefined)
        }
      },
      (error: unknown) => {
        if (refusalOf(error) === undefined) for (const { reject } of batch) reject(error)
        else {
          this.#mayBatch = false
          for (const waiting of batch) this.#one(waiting)
        }
      },
    )
  }
}

function byServer(
  { shards }: RedisCommands,
  batch: readonly Waiting[],
): Iterable<readonly Waiting[]> {
  if (shards === undefined) return [batch]
  return groupedBy(batch, ({ key }) => shards.serverOf(key))
}
