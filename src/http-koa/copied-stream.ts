/**
 * A stream that goes by: read once, into the recording and to the visitor.
 *
 * Invariant: as long as it is kept, nobody waits for the visitor; from then on it is read at his pace.
 */
import { Readable } from 'node:stream'
import type { Recording } from '../http/recording.ts'

export interface CopiedStream {
  /** What the visitor is given, once it is not held, or released. */
  readonly stream: Readable
  /** Gives him what was held; the rest follows. */
  release(held: readonly Uint8Array[]): void
  /** Nobody wants the rest. */
  stop(): void
}

export function copied(source: Readable, recording: Recording): CopiedStream {
  let end: 'whole' | Error | undefined

  const stream = new Readable({
    read() {
      if (source.isPaused()) source.resume()
    },
    destroy(error, done) {
      if (end === undefined) {
        recording.abort('the visitor left')
        source.destroy()
      }
      done(error)
    },
  })
  // It may break before anyone reads it, and is seen to be broken then.
  stream.on('error', () => {})

  const finish = (): void => {
    if (end === undefined || recording.isHeld) return
    if (end === 'whole') stream.push(null)
    else stream.destroy(end)
  }
  const broken = (error: Error): void => {
    if (end !== undefined) return
    end = error
    recording.abort(error.name)
    finish()
  }
  source.on('data', (chunk: unknown) => {
    if (stream.destroyed) return
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      source.destroy(new TypeError(`body: expected texts or bytes, got ${typeof chunk}`))
      return
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    recording.write(bytes)
    if (recording.isHeld) return
    if (!stream.push(bytes) && recording.isOver) source.pause()
  })
  source.once('end', () => {
    if (end !== undefined) return
    end = 'whole'
    recording.end()
    finish()
  })
  source.on('error', broken)
  source.once('close', () => broken(new Error('The stream was closed before its end.')))
  if (source.destroyed) queueMicrotask(() => broken(new Error('The stream was closed before.')))
  return {
    stream,
    release(held) {
      for (const chunk of held) stream.push(chunk)
      finish()
    },
    stop() {
      stream.destroy()
    },
  }
}
