/** One request to the origin over kept connections, and its answer into `res`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { Pool, type Dispatcher } from 'undici'
import { answerTo, reasonOf, wasUnheard, type FailureReason } from './failure.ts'
import { isOfConnection } from './fields.ts'
import { OriginAnswer, type AnswerRules, type Exchange } from './origin-answer.ts'
import { reply } from './reply.ts'
import { bodyOf, hasBody } from './request-body.ts'
import type { ProxySettings } from './settings.ts'

export interface Origin {
  forward(exchange: Exchange): void
  /** Breaks off what runs. */
  close(): Promise<void>
}

export interface Told {
  asked(): void
  failed(reason: FailureReason): void
}

export function openOrigin(settings: ProxySettings, via: string, told: Told): Origin {
  const { origin, hosts, maxBodyBytes } = settings
  const pool = new Pool(origin.url.origin, {
    connections: origin.connections,
    pipelining: 1,
    headersTimeout: origin.timeoutMs,
    bodyTimeout: settings.idleTimeoutMs,
    maxHeaderSize: settings.maxHeaderBytes,
    // An origin may say more; without a word, most keep one for 5 s.
    keepAliveTimeout: 4_000,
    connect: { timeout: origin.connectTimeoutMs, ...tlsOf(settings) },
  })
  const { servername } = tlsOf(settings)
  // undici would take it from `Host`.
  const named = servername === undefined ? {} : { servername }
  const rules: AnswerRules = {
    via,
    broke: () => told.failed('broken'),
    unnamed: hosts.length > 0 ? undefined : origin.url.origin,
    connectTimeoutMs: origin.connectTimeoutMs,
  }

  const send = (exchange: Exchange, isAgain: boolean): void => {
    const { req, res } = exchange
    const failed = (error: unknown): void => {
      const mayRepeat = !isAgain && isSafe(req) && wasUnheard(error)
      if (mayRepeat && !res.destroyed) return send(exchange, true)
      told.failed(reasonOf(error))
      reply(res, answerTo(error))
    }
    told.asked()
    const handler = new OriginAnswer(exchange, rules, failed)
    try {
      const how = { maxBodyBytes, host: hostFor(req, settings) }
      pool.dispatch({ ...requestOf(req, res, how), ...named }, handler)
    } catch (error) {
      handler.onResponseError(undefined, error as Error)
    }
  }
  return { forward: (exchange) => send(exchange, false), close: () => pool.destroy() }
}

/** The name by which the origin is asked. */
export function hostFor({ headers }: IncomingMessage, { hosts, origin }: ProxySettings): string {
  return (hosts.length > 0 ? headers.host : undefined) ?? origin.url.host
}

/** By the origin's own name, whichever name a client asks by. */
export function tlsOf({ origin: { url, ca, insecure } }: ProxySettings): TlsOptions {
  return {
    ...(isIP(hostnameOf(url)) === 0 ? { servername: url.hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(insecure ? { rejectUnauthorized: false as const } : {}),
  }
}

export function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

interface TlsOptions {
  readonly servername?: string
  readonly ca?: string
  readonly rejectUnauthorized?: false
}

interface How {
  readonly maxBodyBytes: number
  readonly host: string
}

function requestOf(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBodyBytes, host }: How,
): Dispatcher.DispatchOptions {
  const headers: string[] = ['host', host]
  for (const [name, value] of Object.entries(req.headers)) {
    if (name === 'host' || name === 'expect' || isOfConnection(name) || value === undefined)
      continue
    for (const line of Array.isArray(value) ? value : [value]) headers.push(name, line)
  }
  return {
    path: req.url ?? '/',
    method: req.method as Dispatcher.HttpMethod,
    headers,
    body: hasBody(req) ? (bodyOf(req, res, maxBodyBytes) as never) : null,
  }
}

function isSafe(req: IncomingMessage): boolean {
  return /^(GET|HEAD|OPTIONS)$/.test(req.method ?? '') && !hasBody(req)
}
