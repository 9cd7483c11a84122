/**
 * A body that goes by: read once, into the recording and to the visitor. `clone()` would do without a
 * bound, and at the slower reader's pace.
 *
 * Invariant: as long as it is kept, nobody waits for the visitor, and his leaving ends nothing; from
 * then on it is read at his pace, and no further than he reads.
 */
import type { Recording } from '../http/recording.ts'

export interface CopiedBody {
  /** What the visitor is given, once it is not held, or released. */
  readonly stream: ReadableStream<Uint8Array>
  /** Gives him what was held; the rest follows. */
  release(held: readonly Uint8Array[]): void
  /** Nobody wants the rest. */
  stop(): void
}

type End = { readonly type: 'whole' } | { readonly type: 'broken'; readonly error: unknown }

export function copied(
  body: ReadableStream,
  recording: Recording,
  visitor: 'none' | 'present',
): CopiedBody {
  const reader: ReadableStreamDefaultReader<unknown> = body.getReader()
  let controller: ReadableStreamDefaultController<Uint8Array>
  let isGone = visitor === 'none'
  let isStopped = false
  let end: End | undefined
  let wake: (() => void) | undefined

  const stop = (): void => {
    isStopped = true
    wake?.()
    reader.cancel().catch(() => {})
  }
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
    pull() {
      wake?.()
    },
    cancel() {
      isGone = true
      if (recording.isOver) stop()
    },
  })
  const finish = (): void => {
    if (end === undefined || isGone || recording.isHeld) return
    isGone = true
    if (end.type === 'whole') controller.close()
    else controller.error(end.error)
  }
  const copy = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (isStopped) return
      if (done) return recording.end()
      const bytes = bytesOf(value)
      recording.write(bytes)
      if (!recording.isHeld && !isGone) controller.enqueue(bytes)
      if (recording.isOver && isGone) return stop()
      while (isFull()) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  const isFull = (): boolean =>
    recording.isOver &&
    !recording.isHeld &&
    !isGone &&
    !isStopped &&
    (controller.desiredSize ?? 0) <= 0

  copy().then(
    () => {
      end = { type: 'whole' }
      finish()
    },
    (error: unknown) => {
      end = { type: 'broken', error }
      recording.abort(error instanceof Error ? error.name : 'an error')
      finish()
    },
  )
  return {
    stream,
    release(held) {
      if (!isGone) for (const chunk of held) controller.enqueue(chunk)
      finish()
    },
    stop,
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  // Not by the standard, and servers send it.
  if (typeof chunk === 'string') return Buffer.from(chunk)
  throw new TypeError(`body: expected bytes, got ${chunk === null ? 'null' : typeof chunk}`)
}
