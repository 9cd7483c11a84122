// The lab's own requests to an API process, beside the load: to fill the cache, and to write.

import { hotCategory } from '../shop/schema.ts'

export async function readFrom(port: number): Promise<void> {
  await (await fetch(`http://127.0.0.1:${port}/trending/${hotCategory}`)).arrayBuffer()
}

export async function writeTo(port: number, timeoutMs: number): Promise<number | undefined> {
  const url = `http://127.0.0.1:${port}/trending/${hotCategory}/write`
  try {
    const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(timeoutMs) })
    return ((await answer.json()) as { revision: number }).revision
  } catch {
    return undefined
  }
}
