// The Redis clients, each with the options that its documentation starts with: none but the URL. A
// client's code is imported when it is used.

import type { Redis } from 'ioredis'
import type { ClientName } from './contender.ts'

export async function connectIoredis(client: ClientName, url: string): Promise<Redis> {
  const redis = client === 'ioredis6' ? await ioredis6(url) : await ioredis5(url)
  await redis.ping()
  return redis
}

async function ioredis5(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  return new Redis(url)
}

async function ioredis6(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis6')
  // The two majors differ in types that are not used here.
  return new Redis(url) as unknown as Redis
}

export async function connectNodeRedis(url: string) {
  const { createClient } = await import('redis')
  const client = createClient({ url })
  client.on('error', (error: unknown) => console.error(error))
  await client.connect()
  return client
}
