/** A request to Node's HTTP server as a visit: Express, Koa, Fastify, Nest and bare servers have these two objects. */
import { IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Answer } from '../http/answer.ts'
import { field, type Fields, type HttpRequest } from '../http/message.ts'
import type { Leading, Visit } from '../http/visit.ts'
import { asBuffer } from '../core/as-buffer.ts'
import { mergedVary } from '../http/vary.ts'
import { baselineOf, capture, type Captured } from './capture.ts'
import { setFields } from './head.ts'

export interface NodeVisit {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** As it came, with the prefix under which a router is mounted. */
  readonly url: string
  next(): void
  /** Tells the framework that its request is shown another URL. */
  onUrl?: ((url: string) => void) | undefined
  /** What the framework is to send with its answer, where it keeps fields beside the response's own. */
  others?: (() => OutgoingHttpHeaders) | undefined
  /** Told of an answer that the application has no part in; calls `send`, once. */
  onAnswer?: ((send: () => void) => void) | undefined
}

export const hasLeft = 'the visitor left'

export function visitOf(of: NodeVisit): Visit {
  const { req, res } = of
  let captured: Captured | undefined
  let others: OutgoingHttpHeaders | undefined
  const request = requestOf(req, of.url)
  return {
    request,
    lead: (how) => {
      // He may have had to wait for his turn: what is written to him now tells of no end.
      if (res.destroyed && how.recording !== undefined) return how.recording.abort(hasLeft)
      // As they came: what follows changes them for the application.
      void request.fields
      others = of.others?.()
      captured = capture(res, how, baselineOf(res, others))
      if (how.changes !== undefined) change(of, how.changes)
      try {
        of.next()
      } catch (error) {
        how.recording?.abort('an error')
        // Nobody's but the application's own, as if it were called by the server itself.
        process.nextTick(() => {
          throw error
        })
      }
    },
    answer: (answer) => {
      if (captured !== undefined) {
        captured.silence()
        return send(res, answer, { out: captured, others })
      }
      const how = { out: res, others: of.others?.() }
      if (of.onAnswer === undefined) send(res, answer, how)
      else of.onAnswer(() => send(res, answer, how))
    },
  }
}

export function requestOf(req: IncomingMessage, url: string): HttpRequest {
  return new NodeRequest(req, url)
}

/** Node makes the fields when they are first asked for, which costs as much as all the rest of a hit. */
class NodeRequest implements HttpRequest {
  readonly method: string
  readonly url: string
  readonly isSecure: boolean
  readonly isIdentified: boolean
  readonly #req: IncomingMessage
  #fields: Fields | undefined

  constructor(req: IncomingMessage, url: string) {
    const socket = req.socket as TLSSocket
    this.#req = req
    this.method = req.method ?? 'GET'
    this.url = url
    this.isSecure = socket.encrypted === true
    this.isIdentified = socket.authorized === true || hasRefusedCertificate(socket)
  }

  get lines(): readonly string[] | undefined {
    return isUntouched(this.#req) ? this.#req.rawHeaders : undefined
  }

  get fields(): Fields {
    if (this.#fields === undefined) {
      const fields = this.#req.headers as Fields
      this.#fields = hasStreamedBody(this.#req)
        ? { ...fields, 'transfer-encoding': 'chunked' }
        : fields
    }
    return this.#fields
  }
}

/** Where Node keeps the fields that it has made; in a version that does not, none are plain. */
const made = Object.getOwnPropertySymbols(new IncomingMessage(new Socket())).find(
  ({ description }) => description === 'kHeaders',
)

/** A layer before the cache may have changed what it has looked at, and that counts. */
function isUntouched(req: IncomingMessage): boolean {
  if (made === undefined || req.httpVersionMajor !== 1) return false
  return (req as unknown as Record<symbol, unknown>)[made] === null
}

/** HTTP/2 may say by its stream alone that a body follows. */
function hasStreamedBody(
  req: IncomingMessage & { stream?: { endAfterHeaders?: boolean } },
): boolean {
  return req.httpVersionMajor > 1 && req.stream?.endAfterHeaders === false
}

/** An application may let in whom nobody vouches for, and know him by his certificate. */
function hasRefusedCertificate(socket: TLSSocket): boolean {
  if ((socket.authorizationError ?? undefined) === undefined) return false
  return Object.keys(socket.getPeerCertificate()).length > 0
}

type Changes = NonNullable<Leading['changes']>

export function change(of: Omit<NodeVisit, 'res' | 'next'>, changes: Changes): void {
  const { req } = of
  req.method = changes.method
  const names = new Set(Object.keys(changes.fields))
  if (names.size > 0) {
    // What came stays as it came: the visitor's own conditions are looked at later.
    const headers = { ...req.headers }
    const rawHeaders: string[] = []
    for (let n = 0; n < req.rawHeaders.length; n += 2) {
      if (names.has(req.rawHeaders[n]!.toLowerCase())) continue
      rawHeaders.push(req.rawHeaders[n]!, req.rawHeaders[n + 1]!)
    }
    for (const name of names) {
      const value = changes.fields[name]
      if (value === undefined) delete headers[name]
      else {
        headers[name] = value as string
        rawHeaders.push(name, String(value))
      }
    }
    replaceHeaders(req, { headers, rawHeaders })
  }
  if (changes.url !== of.url) of.onUrl?.(changes.url)
}

/** Over HTTP/2 they cannot be assigned. */
export function replaceHeaders(
  req: IncomingMessage,
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
): void {
  const how = { configurable: true, enumerable: true, writable: true }
  Object.defineProperties(req, {
    headers: { value: headers, ...how },
    rawHeaders: { value: rawHeaders, ...how },
  })
}

interface Out {
  readonly out: Pick<ServerResponse, 'writeHead' | 'end'>
  readonly others: OutgoingHttpHeaders | undefined
}

/** What others have set on the response is theirs, and stays. */
export function send(res: ServerResponse, answer: Answer, { out, others }: Out): void {
  if (res.destroyed || res.headersSent) return
  const { status, statusText, body } = answer
  let { fields } = answer
  for (const name in others) {
    if (others[name] !== undefined && !res.hasHeader(name)) res.setHeader(name, others[name])
  }
  const vary = res.getHeader('vary')
  if (vary !== undefined && fields['vary'] !== undefined) {
    fields = { ...fields, vary: mergedVary(String(vary), field(fields, 'vary')!.split(',')) }
  }
  res.statusCode = status
  const isBare =
    out === res &&
    !Object.hasOwn(res, 'writeHead') &&
    !Object.hasOwn(res, 'end') &&
    res.getHeaderNames().length === 0
  if (isBare) {
    const all = fields as Record<string, string | string[]>
    if (statusText === undefined) res.writeHead(status, all)
    else res.writeHead(status, statusText, all)
    if (body !== undefined && body.byteLength <= oneWriteBytes) {
      res.end(asText(body), 'latin1')
      return
    }
  } else {
    setFields(res, fields)
    if (statusText !== undefined) res.statusMessage = statusText
    Reflect.apply(out.writeHead, res, [status])
  }
  Reflect.apply(out.end, res, body === undefined ? [] : [asBuffer(body)])
}

/** So far copying is cheaper than a second piece of memory for the kernel to gather. */
const oneWriteBytes = 8_192

/** Each byte a character: Node puts such a text behind the head, and writes both as one. */
function asText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
