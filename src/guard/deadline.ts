/** A promise that rejects when it takes too long: clients wait for a frozen server for ever. */
import type { Clock } from '../ports.ts'

export async function withDeadline<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  let cancel = (): void => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`Redis did not answer in ${ms} ms`)))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
