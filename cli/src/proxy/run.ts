/** The proxy in this process, with its admin port where it is not a worker's, until a signal ends it. */
import cluster from 'node:cluster'
import { startAdmin } from './admin-server.ts'
import { startProxy } from './proxy.ts'
import type { ProxySettings } from './settings.ts'
import { stopAsked } from './stop-asked.ts'

export async function runOne(settings: ProxySettings, say: (text: string) => void): Promise<void> {
  const stop = stopAsked()
  const proxy = await startProxy(settings, say).catch((error: unknown) => {
    // Else the channel to the first process would keep this one.
    if (cluster.isWorker) process.disconnect()
    throw error
  })
  const { registry } = proxy.counters
  if (cluster.isWorker) {
    const { AggregatorRegistry } = (await import('prom-client')).default
    AggregatorRegistry.setRegistries([registry])
    new AggregatorRegistry()
    await stop
    await proxy.stop()
    process.disconnect()
    return
  }
  const admin =
    settings.admin &&
    (await startAdmin(settings.admin, {
      health: () => proxy.health(),
      metrics: async () => ({ type: registry.contentType, text: await registry.metrics() }),
    }).catch(async (error: unknown) => {
      await proxy.stop()
      throw error
    }))
  say(readyLine(settings, proxy.port, admin?.port))
  await stop
  say('stopping')
  await proxy.stop()
  admin?.close()
}

export function readyLine(
  { origin, redis, namespace, admin }: ProxySettings,
  port: number,
  adminPort: number | undefined,
): string {
  const where = redis === undefined ? 'in memory' : `in Redis, namespace ${namespace}`
  const told = adminPort === undefined ? '' : `; health and metrics on ${admin?.host}:${adminPort}`
  return `port ${port} for ${origin.url.origin}, ${where}${told}`
}
