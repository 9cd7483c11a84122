/**
 * One request to a Koa application. What is kept is what the layers further in have made of the
 * context: Koa writes it after all layers have ended, when those further out have made their changes,
 * which are theirs and are made at each hit anew.
 *
 * An application may as well write to Node's response itself, as what was written for another
 * framework does, or listen for its head: then what is kept is what goes by there.
 */
import { STATUS_CODES } from 'node:http'
import type { Answer } from '../http/answer.ts'
import { field, type Fields, type Head, type HttpRequest } from '../http/message.ts'
import { ownFields } from '../http/own-fields.ts'
import type { Leading, Visit } from '../http/visit.ts'
import { mergedVary } from '../http/vary.ts'
import { baselineOf, capture, type Captured } from '../http-node/capture.ts'
import { headOf } from '../http-node/head.ts'
import { change, hasLeft, replaceHeaders, requestOf, send } from '../http-node/visit.ts'
import { contentOf, type Content } from './content.ts'
import { isBodiless, type Context, type Next } from './context.ts'
import { copied } from './copied-stream.ts'

export interface KoaVisit extends Visit {
  /** Resolves when Koa may go on outwards; rejects with what the application threw. */
  readonly passed: Promise<void>
}

export function visitOf(ctx: Context, next: Next): KoaVisit {
  const { req, res } = ctx
  let resolve!: () => void
  let reject!: (error: unknown) => void
  const passed = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  const request: HttpRequest = requestOf(req, ctx.originalUrl)
  const prior = { ...res.getHeaders() } as Fields
  let captured: Captured | undefined
  let isRaw = false
  let isAnswered = false
  let stop = (): void => {}

  const lead = async (how: Leading): Promise<void> => {
    const { recording } = how
    // As they came: what follows changes them for the application.
    void request.fields
    if (res.destroyed && recording !== undefined) {
      recording.abort(hasLeft)
      return resolve()
    }
    const baseline = baselineOf(res)
    captured = capture(res, how, baseline)
    const restore = shown(ctx, how)
    let thrown: { readonly error: unknown } | undefined
    try {
      await next()
    } catch (error) {
      thrown = { error }
    }
    if (isAnswered) return
    isRaw = captured.isUsed() || ctx.respond === false
    if (isRaw) return thrown === undefined ? resolve() : reject(thrown.error)
    restore()
    captured.standAside()
    if (thrown !== undefined) {
      const { error } = thrown
      // What becomes of it is decided further out.
      recording?.head({ status: statusOf(error), statusText: undefined, fields: unstorable })
      if (recording?.isHeld !== true) return reject(error)
      recording.onRelease = () => reject(error)
      return
    }
    const whole = wholeOf(ctx)
    if (recording === undefined) return add(ctx, how.additions(whole), resolve)
    const content = contentOf(ctx)
    const head = { ...whole, fields: { ...whole.fields, ...typed(ctx, content) } }
    recording.head({ ...head, fields: ownFields(head.fields, baseline) })
    if (recording.isOver && !recording.isHeld) return add(ctx, how.additions(head), resolve)

    const copy = content.kind === 'stream' ? copied(content.stream, recording) : undefined
    const give = (): void => {
      const fields = { ...head.fields, ...how.additions(head) }
      set(ctx, { ...head, fields }, content.kind === 'bytes' ? content.bytes : copy!.stream)
      resolve()
    }
    // Koa 2 would leave a visitor waiting whose answer breaks off.
    copy?.stream.once('error', () => void (res.headersSent && res.destroy()))
    stop = () => copy?.stop()
    if (recording.isHeld) {
      recording.onRelease = (_, held) => {
        give()
        copy?.release(held)
      }
    } else give()
    if (content.kind === 'bytes') {
      recording.write(content.bytes)
      recording.end()
    }
  }

  return {
    request,
    passed,
    lead: (how) => {
      lead(how).catch((error: unknown) => {
        how.recording?.abort(error instanceof Error ? error.name : 'an error')
        reject(error)
      })
    },
    answer: (answer) => {
      isAnswered = true
      if (captured !== undefined && isRaw) {
        captured.silence()
        return send(res, answer, { out: captured, others: undefined })
      }
      captured?.standAside()
      stop()
      const { status, statusText, body } = answer
      const fields = over(prior, answer)
      set(ctx, { status, statusText, fields }, Buffer.from(body ?? []))
      resolve()
    },
  }
}

const unstorable: Fields = { 'cache-control': 'no-store' }

/** Shows the application another request than came; gives back the one that came. */
function shown(ctx: Context, { changes }: Leading): () => void {
  if (changes === undefined) return () => {}
  const { req, originalUrl } = ctx
  const { method, headers, rawHeaders, url } = req
  const onUrl = (seen: string): void => {
    // Under a mount it sees what is behind the prefix: only the query is another.
    const query = seen.indexOf('?')
    req.url = url!.split('?', 1)[0]! + (query < 0 ? '' : seen.slice(query))
    ctx.originalUrl = ctx.request.originalUrl = seen
  }
  change({ req, url: originalUrl, onUrl }, changes)
  return () => {
    Object.assign(req, { method, url })
    if (req.headers !== headers) replaceHeaders(req, { headers, rawHeaders })
    ctx.originalUrl = ctx.request.originalUrl = originalUrl
  }
}

/** As Koa reads it from what was thrown. */
function statusOf(error: unknown): number {
  const { status, statusCode, code } = (error ?? {}) as Record<string, unknown>
  if (code === 'ENOENT') return 404
  const given = Number(status ?? statusCode)
  return given >= 400 && given <= 599 ? given : 500
}

/** Koa sets the usual text of each status: that is none of the application's own. */
function wholeOf({ res, status }: Context): Head {
  const { statusText, fields } = headOf(res, [status])
  return {
    status,
    statusText: statusText === STATUS_CODES[status] ? undefined : statusText,
    fields,
  }
}

function typed({ status }: Context, content: Content): Fields {
  if (content.kind === 'stream' || isBodiless(status)) return {}
  return {
    'content-length': String(content.bytes.byteLength),
    ...(content.type !== undefined && { 'content-type': content.type }),
  }
}

function add({ res }: Context, fields: Fields, then: () => void): void {
  if (!res.headersSent) {
    for (const name in fields) res.setHeader(name, fields[name] as string | string[])
  }
  then()
}

/** What Koa is to write, exactly: its setters have opinions of their own on types and lengths. */
function set(ctx: Context, { status, statusText, fields }: Head, body: unknown): void {
  const { req, res } = ctx
  if (res.headersSent) return
  ctx.status = status
  ctx.body = isBodiless(status) ? null : body
  if (statusText !== undefined && req.httpVersionMajor < 2) ctx.message = statusText
  for (const name of res.getHeaderNames()) if (fields[name] === undefined) res.removeHeader(name)
  add(ctx, fields, () => {})
}

/** What others have set is theirs, and stays. */
function over(prior: Fields, { fields }: Answer): Fields {
  const vary = field(fields, 'vary')
  const other = field(prior, 'vary')
  const both = vary !== undefined && other !== undefined
  return { ...prior, ...fields, ...(both && { vary: mergedVary(other, vary.split(',')) }) }
}
