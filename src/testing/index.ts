/** `breakwater/testing`: time that is moved, a store in this process, and one that breaks on command. */
export { memoryStore } from '../memory/memory-store.ts'
export { faultyStore, type FaultyStore } from './faulty-store.ts'
export { manualClock, type ManualClock } from './manual-clock.ts'
