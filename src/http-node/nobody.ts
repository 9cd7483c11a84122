/**
 * A request that no visitor made, and a response that goes nowhere: for refreshes in the background,
 * which run the application in this process, without a socket and without anyone's credentials.
 */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { HttpRequest } from '../http/message.ts'
import type { Recording } from '../http/recording.ts'

const recordings = new WeakMap<
  IncomingMessage,
  { readonly recording: Recording; readonly owner: object }
>()

/** Where this request is one of ours: what records its answer, and for whom. */
export function recordingFor(
  req: IncomingMessage,
): { readonly recording: Recording; readonly owner: object } | undefined {
  return recordings.get(req)
}

/**
 * With all that an application may ask of a connection, and nobody at its other end. Its address is
 * the visitor's for whom it is asked: an application may show more to those that are nearer to it.
 */
class Nowhere extends Socket {
  override readonly remoteAddress: string
  constructor(remoteAddress = '0.0.0.0') {
    super()
    this.remoteAddress = remoteAddress
  }
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done()
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done()
  }
  override _final(done: () => void): void {
    done()
  }
}

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

export function askedByNobody(
  { owner, remoteAddress }: { owner: object; remoteAddress: string | undefined },
  request: HttpRequest,
  recording: Recording,
): Exchange {
  const socket = new Nowhere(remoteAddress)
  if (request.isSecure) Object.assign(socket, { encrypted: true })
  const req = new IncomingMessage(socket)
  req.method = request.method
  req.url = request.url
  req.httpVersion = '1.1'
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  for (const name in request.fields) {
    const value = request.fields[name]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    req.headers[name] = text
    req.rawHeaders.push(name, text)
  }
  req.complete = true
  req.push(null)
  const res = new ServerResponse(req)
  res.assignSocket(socket)
  recordings.set(req, { recording, owner })
  // An answer that came about before the cache was reached (a refusal, another route) is none.
  res.once('finish', () => {
    recording.abort('answered before the cache')
    socket.destroy()
  })
  res.once('close', () => recording.abort('closed'))
  void recording.outcome.then(() => setImmediate(() => socket.destroy()))
  return { req, res }
}
