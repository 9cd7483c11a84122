/**
 * An answer of the origin on its way to the client, as undici tells of it: written piece by piece, as
 * fast as the client reads. One that breaks in its middle breaks for the client too.
 */
import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Dispatcher } from 'undici'
import { NoConnection } from './failure.ts'
import { passedOn } from './fields.ts'
import { viaOf } from './intake.ts'
import { breakOff } from './reply.ts'

export interface AnswerRules {
  readonly via: string
  /** `http://origin`, which the client need not know; undefined where it is asked by the client's own name. */
  readonly unnamed: string | undefined
  readonly connectTimeoutMs: number
  /** Is told of an answer that ends in its middle. */
  broke(): void
}

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The client has asked for the head alone, whatever the cache makes of it. */
  readonly isHead: boolean
}

type Controller = Dispatcher.DispatchController

export class OriginAnswer implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange
  readonly #res: ServerResponse
  readonly #rules: AnswerRules
  /** Called where no head was written yet, so that the client can still be told. */
  readonly #failed: (error: unknown) => void
  #controller: Controller | undefined
  #started = false
  #hasWritten = false
  #isOver = false
  #hints = 0
  readonly #late: NodeJS.Timeout
  readonly #left = (): void => this.#leave()
  readonly #drained = (): void => this.#controller?.resume()

  constructor(exchange: Exchange, rules: AnswerRules, failed: (error: unknown) => void) {
    this.#exchange = exchange
    this.#res = exchange.res
    this.#rules = rules
    this.#failed = failed
    this.#late = setTimeout(() => this.#fail(new NoConnection()), rules.connectTimeoutMs)
    this.#res.on('close', this.#left).on('drain', this.#drained)
  }

  onRequestStart(controller: Controller): void {
    clearTimeout(this.#late)
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('nobody waits for it'))
  }

  onResponseStart(controller: Controller, status: number, _: unknown, reason?: string): void {
    if (this.#isOver) return
    const raw = (controller.rawHeaders ?? []) as readonly (Buffer | string)[]
    if (status < 200) {
      if (++this.#hints <= mostHints) return this.#inform(status, raw)
      this.#fail(new Error('hints without end'))
      controller.abort(new Error('hints without end'))
      return
    }
    try {
      this.#writeHead(status, reason, passedOn(raw))
      this.#started = true
      if (this.#isAnswered) this.#finish()
    } catch (error) {
      this.#fail(error)
      controller.abort(new Error('its head cannot be passed on'))
    }
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#isOver) return
    this.#hasWritten = true
    if (!this.#res.write(chunk)) controller.pause()
    if (this.#isAnswered) this.#finish()
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#end()
    this.#res.end()
  }

  onResponseError(_: unknown, error: Error): void {
    // The length of a 304 is that of another answer's body (RFC 9110, 8.6), which undici waits for.
    const { code } = error as { code?: unknown }
    const isWhole = this.#started && this.#res.statusCode === 304
    if (isWhole && code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return this.onResponseEnd()
    this.#fail(error)
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#end()
    if (!this.#started) return this.#failed(error)
    this.#rules.broke()
    breakOff(this.#res)
  }

  /** A HEAD that the cache asks as a GET, and whose head is out: nobody waits for the body. */
  get #isAnswered(): boolean {
    const { isHead, req } = this.#exchange
    if (!isHead || req.method === 'HEAD') return false
    // Past what the cache has it say while the head is held: then the body is waited for.
    return Reflect.get(ServerResponse.prototype, 'headersSent', this.#res)
  }

  #finish(): void {
    this.#end()
    this.#res.end()
    this.#controller?.abort(new Error('nobody wants the body'))
  }

  #leave(): void {
    if (this.#isOver) return
    this.#end()
    this.#controller?.abort(new Error('the client has left'))
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#late)
    this.#res.off('close', this.#left).off('drain', this.#drained)
  }

  #writeHead(
    status: number,
    reason: string | undefined,
    fields: Map<string, string | string[]>,
  ): void {
    const res = this.#res
    const { unnamed, via } = this.#rules
    for (const [name, value] of fields) {
      const lower = name.toLowerCase()
      if (lower === 'location' && unnamed !== undefined) {
        res.setHeader(name, withoutOrigin(String(value), unnamed))
      } else if (lower !== 'via') {
        res.setHeader(name, value)
      }
    }
    const before = [...fields].find(([name]) => name.toLowerCase() === 'via')?.[1]
    res.setHeader('Via', viaOf(before === undefined ? undefined : String(before), '1.1', via))
    // What is no text of a status line may still be an answer.
    // oxlint-disable-next-line no-control-regex
    const isPlain = reason !== undefined && reason !== '' && !/[^\t\x20-\x7e\x80-\xff]/.test(reason)
    if (isPlain) res.writeHead(status, reason)
    else res.writeHead(status)
    // With the first piece where it is there already, else alone: an event may be long in coming.
    setImmediate(() => {
      if (!this.#isOver && !this.#hasWritten) res.flushHeaders()
    })
  }

  /** Early hints and processing; 100 is between the origin and us. */
  #inform(status: number, raw: readonly (Buffer | string)[]): void {
    if (this.#exchange.req.httpVersion === '1.0') return
    try {
      if (status === 102) this.#res.writeProcessing()
      if (status !== 103) return
      const hints = Object.fromEntries(
        [...passedOn(raw)].map(([name, it]) => [name.toLowerCase(), it]),
      )
      if (hints['link'] !== undefined) this.#res.writeEarlyHints(hints)
    } catch {
      // A hint that cannot be written is none.
    }
  }
}

/** Each is a sign of life: without a bound an origin could send them for ever. */
const mostHints = 100

function withoutOrigin(location: string, origin: string): string {
  const rest = location.slice(origin.length)
  const isOwn = location.toLowerCase().startsWith(origin) && /^($|[/?#])/.test(rest)
  // `//` would begin a host.
  if (!isOwn || rest.startsWith('//')) return location
  return rest.startsWith('/') ? rest : `/${rest}`
}
