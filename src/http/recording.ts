/**
 * One answer of the application, seen as it goes by: its head decides what becomes of it, then its
 * bytes are copied up to the bound. Adapters push into it; whoever loads waits for `outcome`.
 *
 * Invariant: `kept` only after a clean end with as many bytes as were announced; a visitor's own
 * answer is never held back for longer than it takes to know that it is his alone.
 */
import { deferred } from '../flight/deferred.ts'
import type { Clock } from '../ports.ts'
import { field, type Head } from './message.ts'

/**
 * `keep`: for all. `pass`: for the visitor who asked alone. `failed`: an older answer may cover it.
 * `renewed`: the older answer is still right (304 to our own question).
 */
export type Judgement =
  | { readonly type: 'keep' }
  | { readonly type: 'renewed' }
  | { readonly type: 'pass'; readonly why: string }
  | { readonly type: 'failed'; readonly isCovered: boolean }

export type Outcome =
  | { readonly type: 'kept'; readonly head: Head; readonly body: Uint8Array }
  | { readonly type: 'renewed'; readonly head: Head }
  | { readonly type: 'pass'; readonly why: string }
  | { readonly type: 'failed'; readonly status: number }
  /** It broke off, or never came. */
  | { readonly type: 'aborted'; readonly why: string }

export interface RecordingInit {
  judge(head: Head): Judgement
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
  readonly clock: Clock
  /** `none`: the application runs for nobody. `held`: the visitor is answered from what is kept (a HEAD, a condition of his own). */
  readonly visitor: 'none' | 'shown' | 'held'
}

export class Recording {
  readonly #init: RecordingInit
  readonly #outcome = deferred<Outcome>()
  #head: Head | undefined
  #judgement: Judgement | undefined
  #chunks: Uint8Array[] = []
  #bytes = 0
  #stopTimer: (() => void) | undefined
  #isOver = false
  #isHeld: boolean
  /** Set by the adapter: gives the visitor what was held, and lets the rest through. */
  onRelease: ((head: Head, body: readonly Uint8Array[]) => void) | undefined
  /** When the answer was asked for and its head came. */
  readonly requestedAt: number
  receivedAt = 0

  constructor(init: RecordingInit) {
    this.#init = init
    this.#isHeld = init.visitor === 'held'
    this.requestedAt = init.clock.now()
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise
  }

  /** The visitor is not shown what goes by. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** The visitor has the head of it, so that nothing else can be answered. */
  get isShown(): boolean {
    return this.#head !== undefined && !this.#isHeld
  }

  /** So far it is one for all. */
  get isKeeping(): boolean {
    return this.#judgement?.type === 'keep' && !this.#isOver
  }

  /** Back-pressure is the client's business again: what goes by is not being kept. */
  get isOver(): boolean {
    return this.#isOver
  }

  head(head: Head): void {
    if (this.#head !== undefined) return
    this.#head = head
    this.receivedAt = this.#init.clock.now()
    const judgement = this.#init.judge(head)
    this.#judgement = judgement
    switch (judgement.type) {
      case 'keep':
        this.#stopTimer = this.#init.clock.after(this.#init.bodyTimeoutMs, () =>
          this.pass('slow-body'),
        )
        break
      case 'renewed':
        this.#isHeld = this.#init.visitor !== 'none'
        break
      case 'failed':
        this.#isHeld = judgement.isCovered && this.#init.visitor !== 'none'
        this.#settle({ type: 'failed', status: head.status })
        break
      case 'pass':
        // Held for the answer that is kept, and there is to be none.
        this.#isHeld = false
        this.#settle({ type: 'pass', why: judgement.why })
        break
    }
  }

  write(chunk: Uint8Array): void {
    if (this.#isOver && (!this.#isHeld || this.onRelease === undefined)) return
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#init.maxBodyBytes) return this.pass('too-long')
    // The application may use its buffer again as soon as it was told that it is written.
    this.#chunks.push(Buffer.from(chunk))
  }

  end(): void {
    const head = this.#head
    if (head === undefined || this.#isOver) return
    if (this.#judgement?.type === 'renewed') return this.#settle({ type: 'renewed', head })
    const announced = field(head.fields, 'content-length')
    if (announced !== undefined && Number(announced) !== this.#bytes) {
      return this.abort('content-length')
    }
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#settle({ type: 'kept', head, body })
  }

  /** It is its visitor's own after all. */
  pass(why: string): void {
    this.#settle({ type: 'pass', why })
    this.release()
  }

  abort(why: string): void {
    this.#settle({ type: 'aborted', why })
  }

  /** The visitor gets what came so far, and the rest as it comes. */
  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    if (this.#head !== undefined) this.onRelease?.(this.#head, this.#chunks)
    this.#chunks = []
  }

  /** The visitor was answered otherwise: whatever still comes is for nobody. */
  detach(): void {
    this.#isHeld = true
    this.onRelease = undefined
  }

  #settle(outcome: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopTimer?.()
    if (!this.#isHeld) this.#chunks = []
    this.#outcome.resolve(outcome)
  }
}
