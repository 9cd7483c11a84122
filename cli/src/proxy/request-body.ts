/** A request's body on its way to the origin: piece by piece, as the origin takes it, up to a size. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyTooLong } from './failure.ts'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export async function* bodyOf(
  req: IncomingMessage,
  res: ServerResponse,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  // Only now is it wanted: the cache or a limit may have answered without it.
  if (/^100-continue$/i.test(req.headers.expect ?? '')) res.writeContinue()
  let bytes = 0
  // The connection outlives the body: an answer is still due.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length
    if (bytes > maxBytes) throw new BodyTooLong()
    yield chunk as Buffer
  }
}
