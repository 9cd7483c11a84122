/**
 * Who asked whom for what, told to the origin. Only a trusted proxy is believed about it. The client's
 * `Host` is told where the key has it: else one visitor's host would be in the page that all others get.
 */
import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6, type BlockList } from 'node:net'

export interface ForwardedRules {
  readonly trusted: BlockList | 'all' | undefined
  /** Whether the client's `Host` is in the key, and so may be told. */
  readonly keepsHost: boolean
}

/** By which some frameworks take another address or method than the request's own; the cache keys them, or steps aside. */
const overriding = new Set([
  'x-real-ip',
  'x-original-url',
  'x-original-host',
  'x-rewrite-url',
  'x-host',
  'x-http-host-override',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-uri',
  'x-middleware-subrequest',
  'x-script-name',
  'x-scheme',
  'x-url-scheme',
  'front-end-https',
])

export function addForwarded(req: IncomingMessage, rules: ForwardedRules): void {
  const { headers } = req
  const from = addressOf(req)
  const isTrusted = trusts(rules.trusted, from)
  for (const name of Object.keys(headers)) {
    // CGI and what is built on it (WSGI, PHP, Rack) take one for the other; no proxy sends `_`.
    const read = name.replaceAll('_', '-')
    if (!read.startsWith('x-forwarded-') && !overriding.has(read)) continue
    if (!isTrusted || read !== name) delete headers[name]
  }
  headers.forwarded = isTrusted ? chainOf(headers.forwarded, from) : undefined
  if (headers.forwarded === undefined) delete headers.forwarded
  const before = headers['x-forwarded-for']
  headers['x-forwarded-for'] = before === undefined ? from : `${String(before)}, ${from}`
  headers['x-forwarded-proto'] ??= 'http'
  const isHostKnown = rules.keepsHost || isTrusted
  if (isHostKnown && headers.host !== undefined) headers['x-forwarded-host'] ??= headers.host
}

/** RFC 7239, 4: continued where a proxy before has begun it. */
function chainOf(forwarded: string | undefined, from: string): string | undefined {
  if (forwarded === undefined) return undefined
  return `${forwarded}, ${isIPv6(from) ? `for="[${from}]"` : `for=${from}`}`
}

export function trusts(trusted: ForwardedRules['trusted'], address: string): boolean {
  if (trusted === undefined || trusted === 'all') return trusted === 'all'
  return isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** Without the form in which a socket for both versions shows an address of version 4. */
export function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '')
}
