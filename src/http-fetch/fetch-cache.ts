/** A response cache for whatever answers a Request with a Response. */
import type { Answer } from '../http/answer.ts'
import { field, type Fields, type Head } from '../http/message.ts'
import type { HttpCacheOptions } from '../http/option-types.ts'
import { ownFields } from '../http/own-fields.ts'
import type { PurgeOptions, Purges } from '../http/purges.ts'
import { ResponseCache } from '../http/response-cache.ts'
import type { Leading } from '../http/visit.ts'
import type { Dispatch } from '../http/responses.ts'
import { resolveHttp } from '../http/rules.ts'
import { mergedVary } from '../http/vary.ts'
import { copied } from './copied-body.ts'
import { headOf, isBodiless, made, requestOf, responseFrom, withFields } from './fields.ts'
import { askedByNobody, refreshOf } from './nobody.ts'

/** What a framework does with one request. */
export interface Passage {
  readonly request: Request
  /** What is further in, shown this request. Called once. */
  next(shown: Request): Promise<Response>
  /** Fields that were set further out, and are in every answer of what is further in. */
  prior(): Fields
  /** Runs the application for a request that no visitor made; without it nothing is refreshed in the background. */
  readonly run: ((request: Request) => Response | Promise<Response>) | undefined
  /** Where the runtime ends with the answer: told what still goes on. */
  waitUntil(work: Promise<unknown>): void
}

export class FetchCache implements Purges {
  readonly #responses: ResponseCache

  /** `refreshes`: what it handles comes with a `run`. `more`: names of the adapter's own options. */
  constructor(options: HttpCacheOptions, refreshes: boolean, more: readonly string[] = []) {
    this.#responses = new ResponseCache(resolveHttp(options, more), refreshes)
  }

  async handle(passage: Passage): Promise<Response> {
    const { request } = passage
    const refresh = refreshOf(request)
    if (refresh !== undefined) {
      // A refresh goes through the layers as a request does, and past all caches but its own.
      const response = await passage.next(request)
      if (refresh.owner !== this) return response
      const { recording } = refresh
      recording.head(ownHead(response, passage.prior()))
      if (response.body === null) recording.end()
      else if (recording.isOver) void response.body.cancel()
      else copied(response.body, recording, 'none')
      return made(null, headOf(response))
    }
    // Each WebSocket needs its own run: an answer to another client opens none.
    if (/^websocket$/i.test(request.headers.get('upgrade') ?? '')) return passage.next(request)
    return new Promise((resolve, reject) => {
      let led: Led | 'answered' | undefined
      this.#responses.handle(
        {
          request: requestOf(request),
          lead: (how) => {
            lead(passage, how).then(
              (got) => {
                if (led === 'answered') return got.stop()
                led = got
                got.response.then(resolve, reject)
              },
              (error: unknown) => {
                // What is no answer, or has been read already: those who wait try for themselves.
                how.recording?.abort(error instanceof Error ? error.name : 'an error')
                reject(error as Error)
              },
            )
          },
          answer: (answer) => {
            if (led !== undefined && led !== 'answered') led.stop()
            led = 'answered'
            resolve(answered(answer, passage.prior()))
          },
        },
        this.#responses.rules.route,
        this.#dispatchOf(passage),
      )
    })
  }

  purge(url: string | URL, options?: PurgeOptions): Promise<void> {
    return this.#responses.purging.url(url, options)
  }

  purgeTags(tags: string | readonly string[], options?: PurgeOptions): Promise<void> {
    return this.#responses.purging.tags(tags, options)
  }

  #dispatchOf({ run, waitUntil }: Passage): Dispatch | undefined {
    if (run === undefined) return undefined
    return (asked, recording) => {
      const work = (async () => {
        const response = await run(askedByNobody(this, asked, recording))
        // An answer that came about before the cache was reached (a refusal, another route) is none.
        if (!recording.isKeeping) recording.abort('answered before the cache')
        await response.body?.cancel()
        await recording.outcome
      })()
      waitUntil(
        work.catch((error: unknown) => {
          recording.abort(error instanceof Error ? error.name : 'an error')
        }),
      )
    }
  }
}

interface Led {
  /** Pending as long as the answer is held. */
  readonly response: Promise<Response>
  /** The visitor was answered otherwise. */
  stop(): void
}

async function lead(passage: Passage, how: Leading): Promise<Led> {
  const { request } = passage
  const { recording, changes } = how
  let response: Response
  try {
    response = await passage.next(changes === undefined ? request : changed(request, changes))
  } catch (error) {
    if (recording === undefined) throw error
    // His leaving may have ended it: that says nothing of the application.
    if (request.signal.aborted) recording.abort('the visitor left')
    recording.head({ status: 500, statusText: undefined, fields: {} })
    if (!recording.isHeld) throw error
    return {
      response: new Promise((_, reject) => {
        recording.onRelease = () => reject(error as Error)
      }),
      stop: () => {},
    }
  }
  const whole = headOf(response)
  const shown = (): Fields => how.additions(whole)
  if (recording === undefined) return given(withFields(response, shown()))
  recording.head(ownHead(response, passage.prior()))
  if (recording.isOver && !recording.isHeld) return given(withFields(response, shown()))

  const copy = response.body === null ? undefined : copied(response.body, recording, 'present')
  const answer = (): Response => {
    const head = { ...whole, fields: { ...whole.fields, ...shown() } }
    // Nobody reads what answers a HEAD.
    if (request.method === 'HEAD' || isBodiless(head.status)) copy?.stop()
    return made(request.method === 'HEAD' || copy === undefined ? null : copy.stream, head)
  }
  const held = recording.isHeld
    ? new Promise<Response>((resolve) => {
        recording.onRelease = (_, body) => {
          resolve(answer())
          copy?.release(body)
        }
      })
    : undefined
  const led = { response: held ?? Promise.resolve(answer()), stop: () => copy?.stop() }
  if (copy === undefined) recording.end()
  return led
}

function given(response: Response): Led {
  return { response: Promise.resolve(response), stop: () => void response.body?.cancel() }
}

/** As another request than it came. */
function changed(request: Request, changes: NonNullable<Leading['changes']>): Request {
  const { url } = request
  const origin = url.slice(0, url.indexOf('/', url.indexOf('://') + 3))
  const target = origin + changes.url
  const names = Object.keys(changes.fields)
  if (request.method === changes.method && target === url && names.length === 0) return request
  const headers = new Headers(request.headers)
  for (const name of names) {
    const value = changes.fields[name]
    if (value === undefined) headers.delete(name)
    else headers.set(name, String(value))
  }
  return new Request(target, { method: changes.method, headers, signal: request.signal })
}

/** Of the layers further in, for all. What a server's own sign says was sent already cannot be kept. */
function ownHead(response: Response, prior: Fields): Head {
  const { fields, ...head } = headOf(response)
  const isSent = fields['x-hono-already-sent'] !== undefined || response.status < 200
  return {
    ...head,
    fields: { ...ownFields(fields, prior), ...(isSent && { 'cache-control': 'no-store' }) },
  }
}

/** What others have set is theirs, and stays. */
function answered(answer: Answer, prior: Fields): Response {
  if (Object.keys(prior).length === 0) return responseFrom(answer)
  const vary = field(answer.fields, 'vary')
  const other = field(prior, 'vary')
  return responseFrom({
    ...answer,
    fields: {
      ...prior,
      ...answer.fields,
      ...(vary !== undefined &&
        other !== undefined && { vary: mergedVary(other, vary.split(',')) }),
    },
  })
}
