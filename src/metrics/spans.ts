/**
 * Who loaded, and who waited for whom. A load is a span in the trace of the call that began it, and
 * what the loader does is inside of it. A call that waited has a span in its own trace, linked to the
 * load where that ran in this process; of one elsewhere it has the lease's token, which is on the
 * span of that load, too.
 *
 * A call that need not wait has no span: it would cost more than the answer.
 */
import {
  context,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api'
import type { Engine } from '../cache/engine.ts'
import type { LoadTracer } from '../cache/traced.ts'
import type { LoadTrace } from '../core/events.ts'

export function traceLoads(
  engine: Engine,
  tracer: Tracer,
  { prefix, keys }: { readonly prefix: string; readonly keys: boolean },
): () => void {
  const spans = new WeakMap<LoadTrace, SpanContext>()
  const attributesOf = ({
    name,
    key,
  }: {
    readonly name: string
    readonly key: string
  }): Attributes => ({
    [`${prefix}.namespace`]: engine.namespace,
    [`${prefix}.name`]: name,
    ...(keys ? { [`${prefix}.key`]: key } : {}),
  })
  const nameOf = (verb: string, name: string): string =>
    name === '' ? `${prefix}.${verb}` : `${prefix}.${verb} ${name}`

  const load: LoadTracer = async (traced, run) => {
    const { name, reason, lease, unleased } = traced
    const attributes = {
      ...attributesOf(traced),
      [`${prefix}.load.reason`]: reason,
      ...(lease === undefined ? {} : { [`${prefix}.lease`]: lease }),
      ...(unleased === undefined ? {} : { [`${prefix}.load.unleased`]: unleased }),
    }
    const span = tracer.startSpan(nameOf('load', name), { attributes })
    spans.set(traced, span.spanContext())
    try {
      return await context.with(trace.setSpan(context.active(), span), run)
    } catch (error) {
      failed(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  /** After the fact, in the context of the call: only of calls that are traced themselves. */
  const waited = (
    at: { readonly name: string; readonly key: string; readonly ms: number },
    of: { readonly attributes: Attributes; readonly load: SpanContext | undefined },
  ): void => {
    if (trace.getActiveSpan() === undefined) return
    const endTime = Date.now()
    const links = of.load === undefined ? [] : [{ context: of.load }]
    const attributes = { ...attributesOf(at), ...of.attributes }
    const startTime = endTime - at.ms
    tracer.startSpan(nameOf('wait', at.name), { attributes, links, startTime }).end(endTime)
  }

  const { listeners, tracers } = engine
  const stops = [
    listeners.on('joined', (at) => {
      const load = at.load && spans.get(at.load)
      waited(at, { attributes: { [`${prefix}.wait.for`]: 'load' }, load })
    }),
    listeners.on('waited', (at) => {
      const attributes = { [`${prefix}.wait.for`]: 'lease', [`${prefix}.lease`]: at.holder }
      waited(at, { attributes, load: undefined })
    }),
  ]
  tracers.add(load)
  return () => {
    tracers.delete(load)
    for (const stop of stops) stop()
  }
}

function failed(span: Span, error: unknown): void {
  const isError = error instanceof Error
  const code = isError && 'code' in error && typeof error.code === 'string' ? error.code : undefined
  span.setAttribute('error.type', code ?? (isError ? error.name : '_OTHER'))
  span.recordException(isError ? error : String(error))
  span.setStatus({ code: SpanStatusCode.ERROR, ...(isError ? { message: error.message } : {}) })
}
