/** A request to Node's HTTP server as a visit: Express, Koa, Fastify, Nest and bare servers have these two objects. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Answer } from '../http/answer.ts'
import { field, type Fields, type HttpRequest } from '../http/message.ts'
import type { Leading, Visit } from '../http/response-cache.ts'
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
  return {
    request: requestOf(req, of.url),
    lead: (how) => {
      // He may have had to wait for his turn: what is written to him now tells of no end.
      if (res.destroyed && how.recording !== undefined) return how.recording.abort(hasLeft)
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
  const socket = req.socket as TLSSocket
  const fields = req.headers as Fields
  return {
    method: req.method ?? 'GET',
    url,
    fields: hasStreamedBody(req) ? { ...fields, 'transfer-encoding': 'chunked' } : fields,
    isSecure: socket.encrypted === true,
    isIdentified: socket.authorized === true || hasRefusedCertificate(socket),
  }
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
  // What came stays as it came: the visitor's own conditions are looked at later.
  const headers = { ...req.headers }
  put(req, 'headers', headers)
  const removed = new Set<string>()
  for (const name in changes.fields) {
    const value = changes.fields[name]
    removed.add(name)
    if (value === undefined) delete headers[name]
    else headers[name] = value as string
  }
  if (removed.size > 0) {
    const raw: string[] = []
    for (let n = 0; n < req.rawHeaders.length; n += 2) {
      if (removed.has(req.rawHeaders[n]!.toLowerCase())) continue
      raw.push(req.rawHeaders[n]!, req.rawHeaders[n + 1]!)
    }
    for (const name of removed) {
      const value = changes.fields[name]
      if (value !== undefined) raw.push(name, String(value))
    }
    put(req, 'rawHeaders', raw)
  }
  if (changes.url !== of.url) of.onUrl?.(changes.url)
}

/** Over HTTP/2 they can only be read. */
export function put(req: IncomingMessage, name: 'headers' | 'rawHeaders', value: unknown): void {
  Object.defineProperty(req, name, { value, writable: true, configurable: true, enumerable: true })
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
  const isBare = res.getHeaderNames().length === 0 && !Object.hasOwn(res, 'writeHead')
  if (isBare) {
    const all = fields as Record<string, string | string[]>
    if (statusText === undefined) res.writeHead(status, all)
    else res.writeHead(status, statusText, all)
  } else {
    setFields(res, fields)
    if (statusText !== undefined) res.statusMessage = statusText
    Reflect.apply(out.writeHead, res, [status])
  }
  Reflect.apply(out.end, res, body === undefined ? [] : [asBuffer(body)])
}
