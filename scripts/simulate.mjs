// `npm run simulate -- --histories 10000`: builds what is stale and runs the engine in imagined worlds.
// The arguments are those of src/simulate/main.ts.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { runChild } from './setup/run-child.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (!build(['library'])) process.exit(1)
runChild([join(root, 'dist', 'simulate', 'main.js'), ...process.argv.slice(2)], {
  cwd: root,
  env: process.env,
})
