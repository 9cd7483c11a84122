/**
 * A request as it may go further, to the cache and to the origin alike: what one of them sees the other
 * sees too, so that no field chooses an answer that the key does not know of. What must not go further
 * is answered here: before the cache, since a request that has come back to itself would wait for itself.
 */
import type { IncomingMessage } from 'node:http'
import { addForwarded, type ForwardedRules } from './forwarded.ts'
import { namedBy } from './fields.ts'

export interface IntakeRules extends ForwardedRules {
  /** This proxy's name in `Via`. */
  readonly via: string
  readonly maxBodyBytes: number
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly fields?: Readonly<Record<string, string>>
}

export function takeIn(req: IncomingMessage, rules: IntakeRules): Answer | undefined {
  const { headers, method } = req
  for (const name of namedBy(headers.connection)) {
    // What node:http needs itself is left out when it is sent on.
    if (name !== 'upgrade' && name !== 'transfer-encoding') delete headers[name]
  }
  if (hasHosts(req.rawHeaders)) return malformed
  if (isCodedTwice(headers['transfer-encoding'])) return unknownCoding
  if (method === 'TRACE') return notAllowed
  if (req.url === '*') return method === 'OPTIONS' ? allowed : malformed
  if (!toOriginForm(req)) return malformed
  // One name is one key, and the page that is built of it is for all who ask by it.
  headers.host = headers.host?.toLowerCase()
  if (hasPassed(headers.via, rules.via)) {
    return { status: 508, text: 'This request has come back to the proxy that sent it.' }
  }
  headers.via = viaOf(headers.via, req.httpVersion, rules.via)
  if (Number(headers['content-length'] ?? 0) > rules.maxBodyBytes) return tooLong
  addForwarded(req, rules)
  return method === 'OPTIONS' ? hopLeft(headers) : undefined
}

export function viaOf(before: string | undefined, version: string, name: string): string {
  return `${before === undefined ? '' : `${before}, `}${version} ${name}`
}

export const tooLong: Answer = {
  status: 413,
  text: 'This body is longer than is taken here.',
  fields: { connection: 'close' },
}

/** RFC 9112, 6.1: passed on, the body would be in a coding that nothing says. */
const unknownCoding: Answer = {
  status: 501,
  text: 'This transfer coding is not taken here.',
  fields: { connection: 'close' },
}

const malformed: Answer = { status: 400, text: 'This is no address of a page.' }
const allow = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const allowed: Answer = { status: 204, text: '', fields: { allow } }
const notAllowed: Answer = {
  status: 405,
  text: 'This method is not taken here.',
  fields: { allow },
}

/** RFC 9112, 3.2.2: an address that is whole comes before the field `Host`. */
function toOriginForm(req: IncomingMessage): boolean {
  const { url = '' } = req
  if (url.includes('#')) return false
  if (url.startsWith('/')) return true
  const [, authority = '', rest = ''] = /^https?:\/\/([^/?]+)([^]*)$/i.exec(url) ?? []
  if (authority === '' || authority.includes('@')) return false
  req.headers.host = authority
  req.url = rest.startsWith('/') ? rest : `/${rest}`
  return true
}

/** Several, of which each of two readers may take another one (RFC 9112, 3.2). */
function hasHosts(raw: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

/** `gzip, chunked`; what does not end in chunks node:http refuses. */
function isCodedTwice(coding: string | undefined): boolean {
  return coding !== undefined && /,\s*chunked\s*$/i.test(coding)
}

function hasPassed(via: string | undefined, name: string): boolean {
  return via !== undefined && via.split(',').some((hop) => hop.trim().split(/\s+/)[1] === name)
}

/** RFC 9110, 7.6.2. */
function hopLeft(headers: IncomingMessage['headers']): Answer | undefined {
  const left = headers['max-forwards']
  if (typeof left !== 'string' || !/^\d{1,9}$/.test(left)) return undefined
  if (Number(left) === 0) return allowed
  headers['max-forwards'] = String(Number(left) - 1)
  return undefined
}
