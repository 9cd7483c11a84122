/** What an adapter gives the engine: one request, and two ways to answer it. */
import type { Answer } from './answer.ts'
import type { Fields, Head, HttpRequest } from './message.ts'
import type { Recording } from './recording.ts'
import type { Changes } from './responses.ts'

/** One request, and what its adapter does with it: `lead` or `answer`, one of them, once. */
export interface Visit {
  readonly request: HttpRequest
  /** To the application; what it answers is the visitor's, as far as the recording does not hold it. */
  lead(how: Leading): void
  /** Also after `lead`, as long as the recording holds what it gave. */
  answer(answer: Answer): void
}

export interface Leading {
  /** Sees the answer go by. `undefined`: nobody wants to keep it. */
  readonly recording: Recording | undefined
  /** What the application is shown of the request. */
  readonly changes: Changes | undefined
  /** Fields that are set on the answer on its way to the visitor. Called with its head, once. */
  additions(head: Head): Fields
  /** Called at the end of an answer whose head had gone out before. */
  ended?: (() => void) | undefined
}
