/**
 * Watches what an application writes to a `ServerResponse`, where the cache stands among its layers:
 * what is inside of it (a compression that was mounted later) is seen as done, what is outside is not.
 *
 * A head is complete when the layer further in calls `writeHead`, and not before: cookies and codings
 * are set at that moment by layers which listen for it. So nothing here reads fields earlier.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Fields, Head } from '../http/message.ts'
import { ownFields, type Baseline } from '../http/own-fields.ts'
import type { Leading } from '../http/visit.ts'
import { headOf, mayHaveLength, setFields } from './head.ts'

/** What stood on the response before. `others`: what the framework keeps beside the response, to send it with its answer. */
export function baselineOf(res: ServerResponse, others?: OutgoingHttpHeaders): Baseline {
  const fields: Record<string, Baseline[string]> = { ...res.getHeaders() }
  for (const name in others) {
    if (others[name] !== undefined) fields[name.toLowerCase()] = others[name]
  }
  return fields
}

export interface Captured {
  /** The layer's own, as they were: what is answered from the cache goes through them. */
  readonly writeHead: ServerResponse['writeHead']
  readonly end: ServerResponse['end']
  /** Takes back what the application has set; whatever it still does to the response is for nobody. */
  silence(): void
  /** Whether somebody has begun to write to the response, or will change its head as it is written. */
  isUsed(): boolean
  /** From now on writes what it is given, and looks at nothing. */
  standAside(): void
}

type Done = ((error?: Error | null) => void) | undefined

export function capture(res: ServerResponse, how: Leading, baseline: Baseline): Captured {
  const { recording } = how
  const { writeHead, write, end: plainEnd, flushHeaders } = res
  let isHeaded = false
  let isEnded = false
  let isSilent = false
  let isAside = false
  /** Over HTTP/2 it writes the rest by `res.write`, which is ours. */
  const end = function (this: ServerResponse, ...args: unknown[]) {
    const before = isAside
    isAside = true
    try {
      return Reflect.apply(plainEnd, res, args)
    } finally {
      isAside = before
    }
  } as ServerResponse['end']
  let sent: readonly unknown[] = []
  let whole: Fields = {}

  const onHead = (args: unknown[]): void => {
    isHeaded = true
    const { status, statusText, fields: given } = headOf(res, args)
    // Else Node sets it later, perhaps a second later than what is kept says.
    const isDated = given['date'] !== undefined || recording === undefined || !res.sendDate
    const fields = isDated ? given : { ...given, date: new Date().toUTCString() }
    whole = fields
    const head: Head = { status, statusText, fields: ownFields(fields, baseline) }
    recording?.head(head)
    if (recording?.isHeld === true) pretendSent(res)
    const shown =
      recording?.isHeld === true ? undefined : how.additions({ status, statusText, fields })
    sent = statusText === undefined ? [status] : [status, statusText]
    if (shown !== undefined) {
      setFields(res, fields)
      setFields(res, shown)
    }
  }
  const showHead = (): void => {
    Reflect.apply(writeHead, res, sent)
  }

  res.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    if (isSilent) return res
    if (isAside) return Reflect.apply(writeHead, res, args)
    if (isHeaded) return recording?.isHeld === true ? res : Reflect.apply(writeHead, res, args)
    onHead(args)
    if (recording?.isHeld === true) return res
    const cookies = String(res.getHeader('set-cookie'))
    showHead()
    // Layers further out keep in it what the application has put into a session.
    if (String(res.getHeader('set-cookie')) !== cookies) recording?.pass('late-cookie')
    return res
  } as ServerResponse['writeHead']

  /** By the outermost of those further in, who may have something to add. */
  const ensureHead = (length: number | undefined): void => {
    if (isHeaded) return
    if (length !== undefined && mayHaveLength(res)) res.setHeader('content-length', length)
    res.writeHead(res.statusCode)
  }

  res.write = function (this: ServerResponse, chunk: unknown, encoding?: unknown, done?: Done) {
    if (isAside) return Reflect.apply(write, res, [chunk, encoding, done])
    const bytes = bytesOf(chunk, encoding)
    const told = typeof encoding === 'function' ? (encoding as Done) : done
    if (isSilent) return dropped(told)
    ensureHead(undefined)
    recording?.write(bytes)
    if (recording?.isHeld === true) return dropped(told)
    const flows = Reflect.apply(write, res, [bytes, told])
    // What is kept is in memory anyway: a slow visitor does not keep the others waiting.
    return recording === undefined || recording.isOver ? flows : true
  } as ServerResponse['write']

  res.end = function (this: ServerResponse, ...args: unknown[]) {
    if (isAside) return Reflect.apply(end, res, args)
    const [chunk, encoding] = args
    const told = args.find((one) => typeof one === 'function') as Done
    const has = chunk !== undefined && chunk !== null && typeof chunk !== 'function'
    const bytes = has ? bytesOf(chunk, encoding) : undefined
    if (isSilent) {
      dropped(told)
      return res
    }
    const wasHeaded = isHeaded
    ensureHead(isEnded ? undefined : (bytes?.byteLength ?? 0))
    if (isEnded) return res
    isEnded = true
    if (wasHeaded) how.ended?.()
    if (bytes !== undefined) recording?.write(bytes)
    if (recording?.isHeld === true) {
      recording.end()
      dropped(told)
      return res
    }
    Reflect.apply(end, res, [
      ...(bytes === undefined ? [] : [bytes]),
      ...(told === undefined ? [] : [told]),
    ])
    recording?.end()
    return res
  } as ServerResponse['end']

  res.flushHeaders = function () {
    if (isSilent) return
    if (isAside) return flushHeaders.call(res)
    ensureHead(undefined)
    if (recording?.isHeld !== true) flushHeaders.call(res)
  }

  if (recording !== undefined) {
    res.once('close', () => {
      if (!isEnded) recording.abort('the visitor left')
    })
    recording.onRelease = (head, body) => {
      Reflect.deleteProperty(res, 'headersSent')
      if (res.destroyed) return
      setFields(res, whole)
      setFields(res, how.additions({ ...head, fields: whole }))
      showHead()
      for (const chunk of body) Reflect.apply(write, res, [chunk])
      if (isEnded) Reflect.apply(end, res, [])
    }
  }
  const silence = (): void => {
    isSilent = true
    Reflect.deleteProperty(res, 'headersSent')
    if (res.headersSent) return
    for (const name of res.getHeaderNames()) {
      if (baseline[name] === undefined) res.removeHeader(name)
    }
    setFields(res, baseline as Fields)
    // Over HTTP/2 there is none, and asking for it warns.
    if (res.req.httpVersionMajor === 1) res.statusMessage = ''
  }
  const own = res.writeHead
  return {
    writeHead,
    end,
    silence,
    isUsed: () => isHeaded || res.writeHead !== own,
    standAside: () => {
      isAside = true
    },
  }
}

/**
 * Its head is held, and for the application it is on its way: whoever deals with errors would answer
 * another time, and add that to the body which has begun.
 */
function pretendSent(res: ServerResponse): void {
  Object.defineProperty(res, 'headersSent', { configurable: true, value: true })
}

function dropped(done: Done): boolean {
  if (done !== undefined) process.nextTick(done)
  return true
}

function bytesOf(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  if (chunk instanceof Uint8Array) return chunk
  throw new TypeError(
    `write: expected a text or bytes, got ${chunk === null ? 'null' : typeof chunk}`,
  )
}
