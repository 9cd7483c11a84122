/** Requests and responses of which a test says only what it is about. */
import type { Fields, Head, HttpRequest, StoredResponse } from '../../../src/http/message.ts'

export const bornAt = Date.UTC(2026, 0, 1, 12)
export const bornDate = 'Thu, 01 Jan 2026 12:00:00 GMT'

export function get(fields: Fields = {}, method = 'GET'): HttpRequest {
  return { method, url: '/', fields, isSecure: false, isIdentified: false }
}

export function head(fields: Fields = {}, status = 200): Head {
  return { status, statusText: undefined, fields }
}

export function stored(fields: Fields = {}, { status = 200, size = 10 } = {}): StoredResponse {
  return {
    ...head(fields, status),
    type: 'response',
    body: new Uint8Array(size),
    bornAt,
    storedAt: bornAt,
    freshUntil: bornAt + 60_000,
    coversUntil: bornAt + 60_000,
    vary: [],
    selection: '',
    family: 'f',
    selecting: {},
  }
}
