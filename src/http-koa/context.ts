/** Of Koa's context, what the cache needs: the same in Koa 2 and 3. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Context {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly app: App
  readonly request: { originalUrl: string }
  /** As it came, with the prefix under which a router is mounted. */
  originalUrl: string
  status: number
  message: string
  body: unknown
  /** `false`: the application writes to `res` itself. */
  readonly respond?: boolean
}

export interface App {
  callback(): (req: IncomingMessage, res: ServerResponse) => unknown
}

export type Next = () => Promise<unknown>

export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
