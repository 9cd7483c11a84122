// Builds the library (dist/) and the private workspaces (rig/, lab/, bench/, each into its own
// dist/) with plain tsc, in the order in which they import each other. A folder without sources
// is skipped. Output whose source has gone is removed afterwards, so that dist/ is never missing
// in between. `--library` stops after the library.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

const projects = [
  { folder: root, config: 'tsconfig.build.json' },
  ...['rig', 'lab', 'bench'].map((name) => ({ folder: join(root, name), config: 'tsconfig.json' })),
]

for (const { folder, config } of process.argv.includes('--library') ? projects.slice(0, 1) : projects) {
  if (!hasSources(join(folder, 'src'))) continue
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(folder, config)], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
  removeOrphans(folder)
}

/** @param {string} folder */
function hasSources(folder) {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((f) => /\.ts$/.test(String(f)))
}

/** @param {string} folder */
function removeOrphans(folder) {
  const dist = join(folder, 'dist')
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const stem = /^(.*?)(\.d\.ts|\.js)$/.exec(file)?.[1]
    if (stem !== undefined && !existsSync(join(folder, 'src', `${stem}.ts`))) rmSync(join(dist, file))
  }
}
