import type { Engine } from './engine.ts'

/** Serverless platforms keep a process awake for what they were told of. */
export function giveToPlatform(engine: Engine, work: Promise<unknown>): void {
  try {
    engine.waitUntil?.(work)
  } catch (error) {
    engine.listeners.tell('callbackFailed', () => ({
      name: '',
      key: '',
      callback: 'waitUntil',
      error,
    }))
  }
}
