// `npm test`: sets up what is missing and runs vitest with the arguments that were given.
// The tests need a Redis and a PostgreSQL: without, this fails with a sentence that says what to do.
// The lab's page is tested in a Chromium, metrics and alert rules with a Prometheus: without, these
// tests are skipped, which is said.
// Test workers are processes of their own and import dist/, so it is built first.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { lacksChromium, provideChromium } from './setup/chromium.mjs'
import { installDependencies } from './setup/dependencies.mjs'
import { installBeside } from './setup/install-programs.mjs'
import { missingPostgres } from './setup/postgres.mjs'
import { requireNodeVersion } from './setup/node-version.mjs'
import { lacksPrometheus, providePrometheus } from './setup/prometheus.mjs'
import { findRedis, lacksRedis } from './setup/redis.mjs'
import { runChild } from './setup/run-child.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// `npm test -- test/core` needs no browser, and Chromium is big.
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const wants = (/** @type {string[]} */ files) =>
  filters.length === 0 || filters.some((filter) => files.some((file) => file.includes(filter)))
const wantsPage = wants(['test/lab/live-page.test.ts'])
const wantsMetrics = wants(['test/metrics/alerts.test.ts', 'test/metrics/read-back.test.ts'])

requireNodeVersion()
const lacking = [
  ...(lacksRedis() ? ['redis'] : []),
  ...(wantsPage && lacksChromium() ? ['chromium'] : []),
  ...(wantsMetrics && lacksPrometheus() ? ['prometheus'] : []),
]
// Beside npm: on a new machine both take half a minute.
const installing = installBeside(lacking)
installDependencies(root)
if (!build(['library', 'cli', 'rig', 'soak', 'lab'])) process.exit(1)
await installing
const { server, missing } = await findRedis()
if (missing !== undefined) {
  console.error(missing)
  process.exit(1)
}
const noPostgres = missingPostgres(root)
if (noPostgres !== undefined) {
  console.error(noPostgres)
  process.exit(1)
}
const chromium = await provideChromium({ mayInstall: wantsPage })
if (wantsPage && chromium.missing !== undefined) console.error(chromium.missing)
const prometheus = await providePrometheus({ mayInstall: wantsMetrics })
if (wantsMetrics && prometheus.missing !== undefined) console.error(prometheus.missing)

runChild([join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)], {
  cwd: root,
  env: {
    ...process.env,
    BREAKWATER_REDIS_SERVER: server,
    BREAKWATER_CHROMIUM: chromium.program,
    BREAKWATER_PROMETHEUS_BIN: prometheus.folder,
  },
})
