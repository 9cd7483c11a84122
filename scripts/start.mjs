// `npm start`: sets up what is missing and runs the lab with the arguments that were given.
// Without any Redis the lab still runs; BREAKWATER_REDIS_SERVER=none tells it so.
// All output of the set-up goes to stderr: stdout belongs to the lab (`--json`).

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { installDependencies } from './setup/dependencies.mjs'
import { requireNodeVersion } from './setup/node-version.mjs'
import { findRedis } from './setup/redis.mjs'
import { runChild } from './setup/run-child.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

requireNodeVersion()
installDependencies(root)
if (!build(['lab'])) process.exit(1)
const { server, missing } = await findRedis()
if (missing !== undefined) {
  console.error(`${missing}\nGoing on without Redis: the lab uses the in-process store.`)
}

runChild([join(root, 'lab', 'dist', 'main.js'), ...process.argv.slice(2)], {
  cwd: root,
  env: { ...process.env, BREAKWATER_REDIS_SERVER: server },
})
