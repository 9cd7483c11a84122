// All benchmarks, in the order in which they run and are told of.

import type { Benchmark } from '../measure/report.ts'
import { ahead } from './ahead.ts'
import { batch } from './batch.ts'
import { bigValues } from './big-values.ts'
import { codecs } from './codecs.ts'
import { coldHerd } from './cold-herd.ts'
import { httpWaves } from './http-waves.ts'
import { fastify } from './fastify.ts'
import { l1Hit } from './l1-hit.ts'
import { l2Hit } from './l2-hit.ts'
import { l2Latency } from './l2-latency.ts'
import { memory } from './memory.ts'
import { metrics } from './metrics.ts'
import { outage } from './outage.ts'
import { overload } from './overload.ts'
import { proxy } from './proxy.ts'
import { set } from './set.ts'
import { staleHerd } from './stale-herd.ts'
import { traffic } from './traffic.ts'
import { waiterWake } from './waiter-wake.ts'

export const benchmarks: ReadonlyMap<string, Benchmark> = new Map([
  ['l1-hit', l1Hit],
  ['l2-hit', l2Hit],
  ['l2-latency', l2Latency],
  ['batch', batch],
  ['set', set],
  ['cold-herd', coldHerd],
  ['stale-herd', staleHerd],
  ['traffic', traffic],
  ['waiter-wake', waiterWake],
  ['memory', memory],
  ['outage', outage],
  ['overload', overload],
  ['ahead', ahead],
  ['metrics', metrics],
  ['http-waves', httpWaves],
  ['codecs', codecs],
  ['big-values', bigValues],
  ['proxy', proxy],
  ['fastify', fastify],
])
