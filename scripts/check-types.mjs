// Type-checks everything without writing: src/ and test/ (type tests `*.test-d.ts` included), the
// workspaces and these scripts. What imports dist/ needs it built before. A project without sources
// is skipped.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const workspaces = ['cli', 'rig', 'soak', 'lab', 'bench'].filter((name) =>
  existsSync(join(root, name, 'src')),
)

const failed = ['.', 'scripts', ...workspaces].filter((folder) => {
  const options = [tsc, '--noEmit', '-p', join(root, folder)]
  return spawnSync(process.execPath, options, { stdio: 'inherit' }).status !== 0
})
if (failed.length > 0) {
  console.error(`Type errors in: ${failed.join(', ')}`)
  process.exit(1)
}
