/** The cache before the origin. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cache } from 'breakwater'
import type { ProxySettings } from './settings.ts'

export type Forward = (req: IncomingMessage, res: ServerResponse) => void

export type Cached = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void

export interface CachedHow {
  readonly cache: Cache
  readonly settings: ProxySettings
  readonly forward: Forward
}

export function cachedBy(_: CachedHow): Cached {
  return (_req, _res, next) => next()
}
