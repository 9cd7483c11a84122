/**
 * How the command ends. 0: done. 1: it has found something (a problem, no entry), or a change was
 * not taken. 2: it was called in a wrong way. 3: Redis could not be reached, or would not let us in.
 */

export const exitCodes = { ok: 0, found: 1, usage: 2, unreachable: 3 } as const

export type Ending = keyof typeof exitCodes

/** A sentence for who has typed the command, and nothing else: no stack. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly ending: Ending

  constructor(ending: Ending, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.ending = ending
  }
}

export function usage(message: string): Failure {
  return new Failure('usage', message)
}
