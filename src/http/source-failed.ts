/** The application gave nothing that could be shared; whoever waited is told why, in every process. */

/** `status`: it answered with an error. `aborted`: its answer broke off. `nobody`: nobody could ask it. */
export type Failure = 'status' | 'aborted' | 'nobody'

export class SourceFailed extends Error {
  override readonly name = 'SourceFailed'
  readonly failure: Failure

  constructor(failure: Failure, message: string) {
    super(message)
    this.failure = failure
  }

  static toWire(this: void, error: unknown): unknown {
    if (!(error instanceof SourceFailed)) return { failure: 'status', message: '' }
    return { failure: error.failure, message: error.message }
  }

  static fromWire(this: void, json: unknown): Error {
    const { failure, message } = json as { failure: Failure; message: string }
    return new SourceFailed(failure, message)
  }
}
