/**
 * The same events for whoever has no hold of the cache: Node's `diagnostics_channel`, one channel per
 * event, and a tracing channel around every load. One that nobody listens to is a property to read.
 */
import { channel, tracingChannel, type Channel } from 'node:diagnostics_channel'
import { eventNames, type CacheEvents, type LoadTrace } from '../core/events.ts'

/** `breakwater:load` and so on; a message is the event, with the `namespace` of its cache. */
export const channels = Object.fromEntries(
  eventNames.map((name) => [name, channel(`breakwater:${name}`)]),
) as Readonly<Record<keyof CacheEvents, Channel>>

/** `tracing:breakwater.load:start` and so on; its messages are `LoadTrace`. */
export const loadTraces = tracingChannel<unknown, LoadTrace>('breakwater.load')
