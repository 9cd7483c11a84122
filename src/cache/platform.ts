import { callbackFailed } from './failure.ts'
import type { Engine } from './engine.ts'

/** Serverless platforms keep a process awake for what they were told of. */
export function giveToPlatform(engine: Engine, work: Promise<unknown>): void {
  if (engine.waitUntil === undefined) return
  const failed = (error: unknown): void => {
    callbackFailed(engine, { name: '', key: '' }, 'waitUntil', error)
  }
  try {
    const result: unknown = engine.waitUntil(work)
    if (result instanceof Promise) result.catch(failed)
  } catch (error) {
    failed(error)
  }
}
