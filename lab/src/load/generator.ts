// The load, in its own process so that the API processes cannot slow it down: an open loop. Requests
// leave at the instants of a Poisson process whether or not earlier ones were answered, over
// keep-alive connections, as many as it takes. A stall is not hidden: a request that could only
// leave late is counted from when it should have left (Tene, "How not to measure latency").

import { Pool } from 'undici'
import { wallClock } from '../api/messages.ts'
import { Course } from './course.ts'
import type { Answer, LoadCommand, LoadOrder, LoadReport, Stream } from './messages.ts'

const pools = new Map<number, Pool>()
let isEnding = false

process.on('disconnect', () => process.exit(0))
process.on('message', (command: LoadCommand) => {
  switch (command.kind) {
    case 'begin':
      return void run(command.order)
    case 'port':
      openPool(command.port)
      return
    case 'end':
      isEnding = true
  }
})

function report(message: LoadReport): void {
  if (process.connected) process.send?.(message, () => undefined)
}

function openPool(port: number): void {
  pools.set(port, new Pool(`http://127.0.0.1:${port}`, { connections: null }))
}

async function run(order: LoadOrder): Promise<void> {
  order.ports.forEach(openPool)
  const answers: Answer[] = []
  const courses = { hot: new Course(), unrelated: new Course() }
  const ticker = setInterval(() => {
    const at = wallClock()
    const endpoints = { hot: courses.hot.now(at), unrelated: courses.unrelated.now(at) }
    report({ kind: 'progress', at, endpoints })
  }, 200)

  const send = async ({ endpoint, path }: Stream, intendedAt: number): Promise<void> => {
    const request = courses[endpoint].sent(intendedAt)
    const live = [...pools.keys()]
    const port = live[Math.floor(Math.random() * live.length)] ?? 0
    const answer = await ask(pools.get(port), path, order.timeoutMs)
    const at = wallClock()
    courses[endpoint].answered(request, { at, failed: answer.error !== undefined })
    // As a load balancer would: a process that refuses connections gets no more requests.
    if (answer.error === 'connection' && pools.size > 1) pools.delete(port)
    if (order.durationMs === undefined) return
    answers.push({ ...answer, endpoint, port, intendedAt, ms: at - intendedAt })
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
  const open = new Set<Promise<void>>()
  const gap = (): number => (-Math.log(1 - Math.random()) * 1000) / stream.perSecond
  const endAt = order.startAt + (order.durationMs ?? Number.POSITIVE_INFINITY)
  for (let at = order.startAt + gap(); at < endAt && !isEnding; at += gap()) {
    const wait = at - wallClock()
    if (wait > 0.5) await new Promise((done) => setTimeout(done, wait))
    const request = send(stream, at)
    open.add(request)
    void request.finally(() => open.delete(request))
  }
  await Promise.all(open)
}

async function ask(
  pool: Pool | undefined,
  template: string,
  timeoutMs: number,
): Promise<Pick<Answer, 'revision' | 'error'>> {
  const path = template.replace('{n}', String(1 + Math.floor(Math.random() * 5000)))
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
