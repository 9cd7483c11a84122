// Holds the package to its size: packed, then installed into an empty project with its required
// dependencies, it may take 4 MB and 7 packages (itself included). Prints what takes the room.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const maxBytes = 4_000_000
const maxPackages = 7

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const project = mkdtempSync(join(tmpdir(), 'breakwater-size-'))

try {
  const packed = JSON.parse(npm(root, ['pack', '--json', '--pack-destination', project]))
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  npm(project, ['install', '--no-audit', '--no-fund', join(project, packed[0].filename)])

  const modules = join(project, 'node_modules')
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'))
  const sizes = Object.keys(lock.packages).map((path) => ({
    name: path.replace(/^node_modules\//, ''),
    bytes: sizeOf(join(project, path)),
  }))
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) {
    console.log(`${(bytes / 1000).toFixed(0).padStart(8)} kB  ${name}`)
  }
  console.log(`${(total / 1000).toFixed(0).padStart(8)} kB  in ${sizes.length} packages`)
  if (total > maxBytes || sizes.length > maxPackages) {
    console.error(`expected at most ${maxBytes / 1000} kB in ${maxPackages} packages`)
    process.exitCode = 1
  }
} finally {
  rmSync(project, { recursive: true, force: true })
}

/**
 * @param {string} cwd
 * @param {string[]} command
 */
function npm(cwd, command) {
  const { status, stdout, stderr } = spawnSync('npm', command, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ${command[0]} failed: ${stderr}`)
  return stdout
}

/**
 * @param {string} folder
 * @returns {number}
 */
function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + sizeOf(path)
    return sum + (entry.isFile() ? statSync(path).size : 0)
  }, 0)
}
