/** What an origin has failed with, as an answer to the client. */
import { tooLong, type Answer } from './intake.ts'

export type FailureReason = 'refused' | 'connect timeout' | 'answer timeout' | 'broken' | 'client'

export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/** No connection to the origin within the time for it, be it that all are in use. */
export class NoConnection extends Error {
  override readonly name = 'NoConnection'
}

export function reasonOf(error: unknown): FailureReason {
  if (error instanceof NoConnection) return 'connect timeout'
  if (error instanceof BodyTooLong) return 'client'
  switch ((error as { code?: unknown }).code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'connect timeout'
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return 'answer timeout'
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'refused'
    default:
      return 'broken'
  }
}

/** Its words say nothing of the network behind the proxy. */
export function answerTo(error: unknown): Answer {
  const reason = reasonOf(error)
  switch (reason) {
    case 'client':
      return tooLong
    case 'connect timeout':
      return { status: 504, text: 'The origin could not be reached in time.' }
    case 'answer timeout':
      return { status: 504, text: 'The origin has not answered in time.' }
    case 'refused':
      return { status: 502, text: 'The origin could not be reached.' }
    case 'broken':
      return { status: 502, text: 'The origin has not given a valid answer.' }
  }
}

/**
 * A connection that had rested may have been closed by the origin just when it was used: such a request
 * may be sent once more (RFC 9110, 9.2.2; RFC 9112, 9.3.1).
 */
export function wasUnheard(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
