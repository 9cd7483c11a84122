// One strategy in one scenario: a world, a machine per key, and the figures that come of it.

import { Breakwater } from './breakwater.ts'
import { CacheAside } from './cache-aside.ts'
import { Coalescing } from './coalescing.ts'
import { figuresOf, type Figures } from './figures.ts'
import { drawLoadMs } from './load-times.ts'
import { Lock } from './lock.ts'
import type { Rules, Scenario, StrategyId } from './scenario.ts'
import type { Cached, Key, Machine } from './machine.ts'
import { World } from './world.ts'

export function runStrategy(id: StrategyId, scenario: Scenario, rules: Rules): Figures {
  const world = new World(scenario, rules, id === 'breakwater' ? 'limited' : 'unlimited')
  const machines: Machine[] = []
  scenario.shares.forEach((share) => {
    const rate = (scenario.requestsPerSecond * share) / 1000
    const key = { rate, running: 0, overtaken: false }
    const machine = machineOf(id, world, key)
    machine.begin(cachedAtStart(world, rate))
    machines.push(machine)
    planWrites(world, machine, share)
  })
  const outcome = world.run()
  for (const machine of machines) machine.settle(outcome.endedAt)
  return figuresOf(id, world, outcome)
}

function machineOf(id: StrategyId, world: World, key: Key): Machine {
  switch (id) {
    case 'none':
      return new CacheAside(world, key, 0)
    case 'xfetch':
      return new CacheAside(world, key, world.rules.earlyRefresh?.beta ?? 1)
    case 'coalescing':
      return new Coalescing(world, key)
    case 'lock-retry':
      return new Lock(world, key, 'retry')
    case 'lock-poll':
      return new Lock(world, key, 'poll')
    case 'breakwater':
      return new Breakwater(world, key)
  }
}

/**
 * In the long run a key is cached for a ttl, then missing until it is asked for, 1/rate on average;
 * how long it has been missing is exponential again.
 */
function cachedAtStart({ scenario, rules, random }: World, rate: number): Cached | undefined {
  const { start } = scenario
  const tookMs = drawLoadMs(scenario.load, random)
  const cached = (filledAt: number): Cached => {
    const ttlMs = rules.ttlMs * (1 - rules.jitter * random.uniform())
    return { askedAt: filledAt - tookMs, freshUntil: filledAt + ttlMs, tookMs }
  }
  switch (start.kind) {
    case 'empty':
      return undefined
    case 'filled':
      return cached(start.atMs)
    case 'steady': {
      const isFresh = random.uniform() < rules.ttlMs / (rules.ttlMs + 1 / rate)
      const since = isFresh
        ? random.uniform() * rules.ttlMs * (1 - rules.jitter)
        : rules.ttlMs + random.exponential(1 / rate)
      return cached(-since)
    }
  }
}

function planWrites(world: World, machine: Machine, share: number): void {
  const { scenario, random } = world
  if (scenario.start.kind === 'filled' && scenario.start.writeAtMs !== undefined) {
    world.agenda.at(scenario.start.writeAtMs, () => machine.write())
  }
  const meanMs = 1000 / (scenario.writesPerSecond * share)
  const next = (): void => {
    world.after(random.exponential(meanMs), () => {
      machine.write()
      next()
    })
  }
  if (scenario.writesPerSecond > 0) next()
}
