/** What is counted and logged of each request: at its end, whoever has answered it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AccessLog } from './access-log.ts'
import { cacheWord, type Counters } from './counters.ts'
import { addressOf } from './forwarded.ts'

export interface Watching {
  readonly running: Set<ServerResponse>
  readonly counters: Counters
  readonly log: AccessLog | undefined
}

export function watch(
  req: IncomingMessage,
  res: ServerResponse,
  { running, counters, log }: Watching,
): void {
  const { method = '', url = '', socket, headers } = req
  const [began, written] = [performance.now(), socket.bytesWritten]
  const client = addressOf(req)
  running.add(res)
  counters.began()
  res.once('close', () => {
    running.delete(res)
    const ms = performance.now() - began
    const cache = cacheWord(headText(res))
    const status = res.headersSent ? res.statusCode : 499
    counters.ended({ status, cache, ms })
    log?.write({
      at: new Date().toISOString(),
      client,
      method,
      host: headers.host,
      path: url.replace(/^[a-z]+:\/\/[^/?]*/i, '').replace(/[?#][^]*/, ''),
      status,
      bytes: socket.bytesWritten - written,
      ms: Number(ms.toFixed(2)),
      cache,
      whole: res.writableFinished,
    })
  })
}

/** Fields that were given to `writeHead` alone are nowhere else. */
function headText(res: ServerResponse): string {
  return (res as unknown as { readonly _header?: string | null })._header ?? ''
}
