/**
 * Up to which epoch is every change known? Each change tells the epoch before it, so that whoever
 * missed one knows it. Messages and replies come over two connections: what comes early waits until
 * the gap before it is closed.
 */
export class EpochCount {
  /** Every change up to this one is known. */
  highest = 0
  /** Heard of, with something missing before it. */
  #ahead: { readonly from: number; to: number } | undefined

  /** Nothing is known to be missing. */
  get isWhole(): boolean {
    return this.#ahead === undefined
  }

  /** The change `epoch`, which came after `previous`, became known. */
  follow(previous: number, epoch: number): void {
    if (epoch <= this.highest) return
    if (previous <= this.highest) this.reach(epoch)
    else if (this.#ahead?.to === previous) this.#ahead.to = epoch
    else this.#ahead = { from: previous, to: epoch }
  }

  /** A change of our own was confirmed. What came before it may still be on its way: no gap yet. */
  confirm(previous: number, epoch: number): void {
    if (previous <= this.highest) this.reach(epoch)
  }

  /** All up to `epoch` became known. */
  reach(epoch: number): void {
    this.highest = Math.max(this.highest, epoch)
    if (this.#ahead === undefined || this.#ahead.from > this.highest) return
    this.highest = Math.max(this.highest, this.#ahead.to)
    this.#ahead = undefined
  }
}
