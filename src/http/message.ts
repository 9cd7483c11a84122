/**
 * Requests and responses as the engine sees them: plain records, whatever the framework. Bodies are
 * bytes; what is written to a socket is the adapters' business.
 */

/** By lower-case name. What came in several lines, or must go out so, is a list. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

export interface HttpRequest {
  readonly method: string
  /** As it came, with the prefix under which a router is mounted: path and query. */
  readonly url: string
  readonly fields: Fields
  /** Name, value, name, value … as they came, while nobody has looked at the fields: to make those costs more than a hit. */
  readonly lines?: readonly string[] | undefined
  /** Over TLS: an application may answer differently. */
  readonly isSecure: boolean
  /** The connection itself names the visitor: a client's certificate. */
  readonly isIdentified: boolean
}

/** The head of an answer. */
export interface Head {
  readonly status: number
  /** Where the source has one of its own. */
  readonly statusText: string | undefined
  readonly fields: Fields
}

/** A whole answer, as it is kept. Instants are milliseconds since 1970. */
export interface StoredResponse extends Head {
  readonly type: 'response'
  readonly body: Uint8Array
  /** When its head was received, less the age that it had by then (RFC 9111, 4.2.3): what `Age` is counted from. */
  readonly bornAt: number
  /** When it was received as a whole, by the clock of the process that did. */
  readonly storedAt: number
  readonly freshUntil: number
  /** Until when it may cover a failure: the longer stale window's end. */
  readonly coversUntil: number
  /** Names of the request's fields that chose it (`Vary`), lower-case, sorted; none: it is for all. */
  readonly vary: readonly string[]
  /** Their values, as `selectionOf` gives them: a request whose selection differs is not answered by it. */
  readonly selection: string
  /** Shared by all variants of an address, until it is invalidated. */
  readonly family: string
  /** Those fields as they came, for a refresh that nobody asks for. */
  readonly selecting: Fields
}

/** The one line of a field, or its lines joined (RFC 9110, 5.3). */
export function field(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}
