import { defineConfig } from 'vitest/config'

// Several servers that agree on who takes over, fleets of processes, queues with their deadlines, a
// database that crashes: these tests mostly wait, and more of them run at once.
const waiting = [
  'test/cluster/**/*.test.ts',
  'test/sentinel/**/*.test.ts',
  'test/rig/redis-cluster.test.ts',
  'test/postgres/**/*.test.ts',
  'test/bullmq/**/*.test.ts',
  'test/fleet/**/*.test.ts',
  'test/refresh/fleet.test.ts',
]

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: waiting,
          // One more than CI has cores: on two, two leave a third of the time unused, waiting for servers.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'waiting',
          include: waiting,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
