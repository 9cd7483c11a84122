/**
 * Several processes on one port. The first one asks no origin: it starts the others, replaces one that
 * has died, adds up their metrics, and stops when all have stopped.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import prom from 'prom-client'
import { Failure } from '../ending.ts'
import { startAdmin } from './admin-server.ts'
import { readyLine } from './run.ts'
import type { ProxySettings } from './settings.ts'
import { stopAsked, stopWord } from './stop-asked.ts'

/** Between a death and the next start, so that one who cannot live does not keep the machine busy. */
const pauseMs = 1_000

export async function runWorkers(
  settings: ProxySettings,
  say: (text: string) => void,
): Promise<void> {
  const stop = stopAsked()
  const listening = new Set<Worker>()
  let isStopping = false
  const starts = Array.from({ length: settings.workers }, () => started())
  const addresses = await Promise.all(starts).catch(async (error: unknown) => {
    isStopping = true
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => ended(worker!)))
    throw error
  })

  const metrics = new prom.AggregatorRegistry()
  const admin =
    settings.admin &&
    (await startAdmin(settings.admin, {
      health: () => ({
        status: isStopping || listening.size === 0 ? 'stopping' : 'ok',
        pids: [...listening].map((worker) => worker.process.pid),
      }),
      metrics: async () => ({ type: metrics.contentType, text: await metrics.clusterMetrics() }),
    }))
  const port = addresses[0]!
  say(`${readyLine(settings, port, admin?.port)}; ${settings.workers} workers`)
  await stop
  isStopping = true
  say('stopping')
  await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => ended(worker!)))
  admin?.close()

  /** The port that it listens on. */
  async function started(): Promise<number> {
    const worker = cluster.fork()
    worker.once('exit', (code) => {
      listening.delete(worker)
      if (isStopping) return
      say(`a worker has ended (${code ?? 'killed'}); another one is started`)
      setTimeout(() => {
        if (!isStopping) started().catch(() => {})
      }, pauseMs)
    })
    const address = await Promise.race([
      once(worker, 'listening').then(([at]) => (at as { port: number }).port),
      once(worker, 'exit').then(() => undefined),
    ])
    // It has said why.
    if (address === undefined) throw new Failure('found', 'a worker could not start')
    listening.add(worker)
    return address
  }

  async function ended(worker: Worker): Promise<void> {
    const exit = once(worker, 'exit')
    // One that has not begun may not hear a word.
    if (listening.has(worker)) worker.send(stopWord, () => {})
    else worker.process.kill('SIGTERM')
    // Its own bounds are shorter: grace, then the cache.
    const late = setTimeout(() => worker.process.kill('SIGKILL'), 2 * settings.graceMs + 5_000)
    await exit
    clearTimeout(late)
  }
}
