/** What a subcommand works with, opened before it and closed behind it, however it ends. */
import type { Cache } from 'breakwater'
import { openAdmin, type Admin } from 'breakwater/admin'
import { redisStore } from 'breakwater/ioredis'
import { namespaceOf, type Settings } from '../settings.ts'
import { connect, type Connection, type ConnectHow } from './client.ts'

const once: ConnectHow = { persists: false }

export async function withConnection<T>(
  settings: Settings,
  run: (connection: Connection) => Promise<T>,
  how = once,
): Promise<T> {
  const connection = await connect(settings, how)
  try {
    return await run(connection)
  } finally {
    connection.end()
  }
}

/** `bus`: to hear processes. A look at an entry does without that connection. */
export async function withAdmin<T>(
  settings: Settings,
  run: (admin: Admin, connection: Connection) => Promise<T>,
  { bus, persists }: { readonly bus: boolean; readonly persists: boolean },
): Promise<T> {
  const namespace = namespaceOf(settings)
  return withConnection(
    settings,
    async (connection) => {
      const admin = openAdmin({ store: storeOf(connection, bus), namespace })
      try {
        return await run(admin, connection)
      } finally {
        await admin.close()
      }
    },
    { persists },
  )
}

/** The library itself makes the change: with its fences, its messages and its epochs. */
export async function withCache<T>(
  settings: Settings,
  run: (cache: Cache) => Promise<T>,
): Promise<T> {
  const namespace = namespaceOf(settings)
  // Whoever only looks needs no engine.
  const { createCache } = await import('breakwater')
  return withConnection(settings, async (connection) => {
    const cache = createCache({
      namespace,
      store: storeOf(connection, false),
      memory: false,
      precompute: false,
      ttl: '1m',
      storeTimeout: settings.timeoutMs,
    })
    try {
      return await run(cache)
    } finally {
      await cache.close({ timeout: 0 })
    }
  })
}

export function storeOf({ client }: Connection, bus: boolean): ReturnType<typeof redisStore> {
  return redisStore({ client: client as never, ...(bus ? {} : { bus: false as const }) })
}
