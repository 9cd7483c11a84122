/** Everything that breakwater itself refuses or gives up on. Branch on `code`; the text is for people. */

export type ErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_KEY'
  | 'LOAD_TIMEOUT'
  | 'LOAD_FAILED_ELSEWHERE'
  | 'WAIT_TIMEOUT'
  | 'OVERLOADED'
  | 'CYCLE'
  | 'UNSTORABLE'
  | 'STORE_UNAVAILABLE'
  | 'CLOSED'
  | 'NO_PREVIOUS'

export interface ErrorDetails {
  readonly key?: string | undefined
  readonly cause?: unknown
  readonly remote?: { readonly name: string; readonly code?: string } | undefined
}

/**
 * The one error class of this library. A loader's own error is never wrapped in it, except for
 * those who waited in another process (`LOAD_FAILED_ELSEWHERE`, with what is known in `remote`).
 */
export class BreakwaterError extends Error {
  override readonly name = 'BreakwaterError'
  readonly code: ErrorCode
  /** The entry's key, where one entry is concerned. */
  readonly key: string | undefined
  /** Name and code of the error that was thrown in the other process. */
  declare readonly remote?: { readonly name: string; readonly code?: string }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.key = details.key
    if (details.remote !== undefined) this.remote = details.remote
  }
}

/** A sentence that names the option, what was expected and what came. */
export function invalidOption(option: string, expected: string, got: unknown): BreakwaterError {
  return new BreakwaterError(
    'INVALID_OPTION',
    `${option}: expected ${expected}, got ${describe(got)}`,
  )
}

/** What was thrown, in words; whatever it is, this does not throw. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error)
  } catch {
    return describe(error)
  }
}

/** A value in an error message: short, one line, never the value's own code. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > 40 ? `${JSON.stringify(value.slice(0, 40))}…` : JSON.stringify(value)
    case 'bigint':
      return `${value}n`
    case 'function':
      return 'a function'
    case 'symbol':
      return 'a symbol'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? 'an array' : 'an object'
    default:
      return String(value)
  }
}
