/** What Koa is going to write, before it does: the bytes of a body, or the stream of them. */
import { Readable } from 'node:stream'
import { isBodiless, type Context } from './context.ts'

export type Content =
  /** `type`: where Koa adds one. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly type?: string }
  | { readonly kind: 'stream'; readonly stream: Readable }

export function contentOf(ctx: Context): Content {
  const { body, status } = ctx
  if (isBodiless(status) || body === null) return bytes(Buffer.alloc(0))
  if (body === undefined) {
    const text = ctx.req.httpVersionMajor >= 2 ? String(status) : ctx.message || String(status)
    return { kind: 'bytes', bytes: Buffer.from(text), type: 'text/plain; charset=utf-8' }
  }
  if (typeof body === 'string') return bytes(Buffer.from(body))
  if (Buffer.isBuffer(body)) return bytes(body)
  if (body instanceof Readable) return { kind: 'stream', stream: body }
  if (isOldStream(body)) return { kind: 'stream', stream: new Readable().wrap(body) }
  if (body instanceof ReadableStream) return web(body)
  if (body instanceof Blob) return web(body.stream())
  if (body instanceof Response) return body.body === null ? bytes(Buffer.alloc(0)) : web(body.body)
  return bytes(Buffer.from(JSON.stringify(body)))
}

function bytes(given: Buffer): Content {
  return { kind: 'bytes', bytes: given }
}

function web(stream: ReadableStream): Content {
  return {
    kind: 'stream',
    stream: Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]),
  }
}

function isOldStream(body: unknown): body is NodeJS.ReadableStream {
  return typeof (body as { pipe?: unknown }).pipe === 'function'
}
