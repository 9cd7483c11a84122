import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Several servers that agree on who takes over, fleets of processes, queues with their deadlines, a
// database that crashes: these tests mostly wait, and more of them run at once.
const waiting = [
  'test/cluster/**/*.test.ts',
  'test/sentinel/**/*.test.ts',
  'test/cli/servers.test.ts',
  'test/rig/redis-cluster.test.ts',
  'test/postgres/**/*.test.ts',
  'test/bullmq/**/*.test.ts',
  'test/fleet/**/*.test.ts',
  'test/refresh/fleet.test.ts',
  'test/http/{faults,fleet}.test.ts',
  'test/proxy/workers.test.ts',
  'test/examples/**/*.test.ts',
]

// These keep nothing in the process from one file to the next, so that it need not be a new one, which
// would load everything again: a fifth of all the time.
const together = [
  'test/{batch,cache,core,flight,memory}/**/*.test.ts',
  'test/codecs/!(without-native).test.ts',
]

/** Of more than 45 s: begun first, else the last of them is waited for alone. */
const longest = [
  'sentinel/failover',
  'sentinel/node-redis',
  'cluster/lost-shard',
  'cluster/lost-shard-node-redis',
  'cluster/outage',
  'cluster/cut-link',
  'postgres/gaps',
  'next/example',
  'herd/one-load',
  'redis/store-conformance',
  'faults/leaks',
].map((name) => `/test/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(name))
      return at < 0 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    // What is waited for comes in its own time: a second is little where two cores run seven files.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: [...waiting, ...together],
          // As many as CI has cores: with three, one in some thousand tests waits in vain for a server.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: together,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'waiting',
          include: waiting,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
