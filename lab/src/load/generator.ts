// The load, in its own process so that the API processes cannot slow it down: an open loop. Requests
// leave at the instants of a Poisson process whether or not earlier ones were answered, over
// keep-alive connections, as many as it takes. A stall is not hidden: a request that could only
// leave late is counted from when it should have left (Tene, "How not to measure latency").

import { Pool } from 'undici'
import { wallClock } from '../api/messages.ts'
import type { Answer, LoadOrder, LoadReport, Stream } from './messages.ts'

process.on('disconnect', () => process.exit(0))
process.on('message', (order: LoadOrder) => void run(order))

function report(message: LoadReport): void {
  if (process.connected) process.send?.(message, () => undefined)
}

async function run(order: LoadOrder): Promise<void> {
  const pools = new Map(
    order.ports.map((port) => [port, new Pool(`http://127.0.0.1:${port}`, { connections: null })]),
  )
  const answers: Answer[] = []
  let sent = 0
  let errors = 0
  const ticker = setInterval(() => {
    report({ kind: 'progress', sent, done: answers.length, errors })
  }, 200)

  const send = async (stream: Stream, intendedAt: number): Promise<void> => {
    sent++
    const live = [...pools.keys()]
    const port = live[Math.floor(Math.random() * live.length)] ?? 0
    const answer = await ask(pools.get(port), stream, order.timeoutMs)
    if (answer.error !== undefined) errors++
    // As a load balancer would: a process that refuses connections gets no more requests.
    if (answer.error === 'connection' && pools.size > 1) pools.delete(port)
    answers.push({
      ...answer,
      endpoint: stream.endpoint,
      port,
      intendedAt,
      ms: wallClock() - intendedAt,
    })
  }
  await Promise.all(order.streams.map((stream) => arrivals(order, stream, send)))
  clearInterval(ticker)
  report({ kind: 'finished', answers })
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
}

/** Resolves when the last request of the stream was answered or given up. */
async function arrivals(
  order: LoadOrder,
  stream: Stream,
  send: (stream: Stream, intendedAt: number) => Promise<void>,
): Promise<void> {
  const open: Promise<void>[] = []
  const gap = (): number => (-Math.log(1 - Math.random()) * 1000) / stream.perSecond
  const endAt = order.startAt + order.durationMs
  for (let at = order.startAt + gap(); at < endAt; at += gap()) {
    const wait = at - wallClock()
    if (wait > 0.5) await new Promise((done) => setTimeout(done, wait))
    open.push(send(stream, at))
  }
  await Promise.all(open)
}

async function ask(
  pool: Pool | undefined,
  stream: Stream,
  timeoutMs: number,
): Promise<Pick<Answer, 'revision' | 'error'>> {
  const path = stream.path.replace('{n}', String(1 + Math.floor(Math.random() * 5000)))
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    if (pool === undefined) return { error: 'connection' }
    const { statusCode, body } = await pool.request({ method: 'GET', path, signal })
    const value = (await body.json()) as { revision?: number }
    if (statusCode !== 200) return { error: 'status' }
    return value.revision === undefined ? {} : { revision: value.revision }
  } catch {
    return { error: signal.aborted ? 'timeout' : 'connection' }
  }
}
