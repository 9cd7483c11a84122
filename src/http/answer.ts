/**
 * From what is kept to what one visitor is sent: the whole, a part, "not modified", or a head alone.
 * What is the same for all is made once for each kept answer.
 */
import { answersNotModified, notModifiedFields } from './conditional.ts'
import { appended } from './cache-status.ts'
import { field, type Fields, type HttpRequest, type StoredResponse } from './message.ts'
import { rangeOf } from './ranges.ts'
import { mergedVary } from './vary.ts'

export interface Answer {
  readonly status: number
  readonly statusText: string | undefined
  readonly fields: Fields
  /** `undefined`: none (a HEAD, a 304). */
  readonly body: Uint8Array | undefined
}

const whole = new WeakMap<StoredResponse, Fields>()

/** As it is sent, but for what differs with each visitor. */
function wholeFields(response: StoredResponse, vary: readonly string[]): Fields {
  let fields = whole.get(response)
  if (fields === undefined) {
    const { status, body } = response
    const { 'cache-status': _, ...rest } = response.fields
    fields = {
      ...rest,
      ...varyField(rest, [...vary, ...response.vary]),
      // RFC 9110, 8.6: not with 204.
      ...(status !== 204 && { 'content-length': String(body.byteLength) }),
    }
    whole.set(response, fields)
  }
  return fields
}

/** `Vary` with what chose the answer, for the caches that stand before this one. */
export function varyField(fields: Fields, names: readonly string[]): Fields {
  if (names.length === 0) return {}
  return { vary: mergedVary(field(fields, 'vary'), names) }
}

interface How {
  /** Of the route. */
  readonly vary: readonly string[]
  /** Of this visit, in `Cache-Status`. */
  readonly status: string | undefined
  readonly now: number
  /** The request has neither a condition nor a range. */
  readonly isPlain?: boolean
}

interface Recent {
  readonly age: number
  readonly vary: readonly string[]
  readonly status: string | undefined
  readonly fields: Fields
}

const recent = new WeakMap<StoredResponse, Recent>()

/** Whoever comes within the same second is sent the same. */
function fieldsNow(response: StoredResponse, { vary, status, now }: How): Fields {
  const age = Math.max(0, Math.floor((now - response.bornAt) / 1000))
  const last = recent.get(response)
  if (last?.age === age && last.status === status && last.vary === vary) return last.fields
  const fields: Record<string, string | readonly string[] | undefined> = {
    ...wholeFields(response, vary),
    age: String(age),
  }
  if (status !== undefined) {
    fields['cache-status'] = appended(field(response.fields, 'cache-status'), status)
  }
  recent.set(response, { age, vary, status, fields })
  return fields
}

export function answerFrom(request: HttpRequest, response: StoredResponse, how: How): Answer {
  const { status, statusText, body } = response
  const fields = fieldsNow(response, how)
  if (how.isPlain === true || isPlain(request.fields)) {
    return { status, statusText, fields, body: request.method === 'HEAD' ? undefined : body }
  }
  if (answersNotModified(request, response)) {
    return {
      status: 304,
      statusText: undefined,
      fields: notModifiedFields({ status, statusText, fields }),
      body: undefined,
    }
  }
  const range = rangeOf(request, response)
  if (range === 'unsatisfiable') {
    const {
      'content-length': _,
      'content-type': __,
      'content-encoding': ___,
      ...rest
    } = fields as Fields
    const size = `bytes */${body.byteLength}`
    return {
      status: 416,
      statusText: undefined,
      fields: { ...rest, 'content-range': size, 'content-length': '0' },
      body: nothing,
    }
  }
  if (range !== undefined) {
    const { start, end } = range
    const part = body.subarray(start, end + 1)
    return {
      status: 206,
      statusText: undefined,
      fields: {
        ...fields,
        'content-range': `bytes ${start}-${end}/${body.byteLength}`,
        'content-length': String(part.byteLength),
      },
      body: part,
    }
  }
  return { status, statusText, fields, body: request.method === 'HEAD' ? undefined : body }
}

/** Our own word, in plain text, for this visitor alone. */
export function textAnswer(status: number, text: string, more: Fields = {}): Answer {
  const body = Buffer.from(`${text}\n`)
  return {
    status,
    statusText: undefined,
    fields: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(body.byteLength),
      'cache-control': 'no-store',
      ...more,
    },
    body,
  }
}

const nothing = new Uint8Array(0)

function isPlain(fields: Fields): boolean {
  return (
    fields['if-none-match'] === undefined &&
    fields['if-modified-since'] === undefined &&
    fields['range'] === undefined
  )
}
