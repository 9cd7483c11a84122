/** How node:http takes requests: strictly, so that nobody reads two requests where the origin reads one. */
import type { ServerOptions } from 'node:http'
import type { ProxySettings } from './settings.ts'

export function limitsOf({
  maxHeaderBytes,
  idleTimeoutMs,
  keepAliveMs,
}: ProxySettings): ServerOptions {
  return {
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(idleTimeoutMs, 60_000),
    // A long upload has its time, as long as it moves: `server.timeout` is for those that do not.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: 5_000,
    noDelay: true,
  }
}
