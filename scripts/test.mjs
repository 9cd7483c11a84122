// `npm test`: sets up what is missing and runs vitest with the arguments that were given.
// The tests need a Redis and a PostgreSQL: without, this fails with a sentence that says what to do.
// Test workers are processes of their own and import dist/, so it is built first.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { installDependencies } from './setup/dependencies.mjs'
import { missingPostgres } from './setup/postgres.mjs'
import { requireNodeVersion } from './setup/node-version.mjs'
import { findRedis } from './setup/redis.mjs'
import { runChild } from './setup/run-child.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

requireNodeVersion()
installDependencies(root)
if (!build(['library', 'rig', 'soak', 'cli'])) process.exit(1)
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

runChild([join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, BREAKWATER_REDIS_SERVER: server },
})
