// Builds with plain tsc what is missing or stale: the library (dist/) and the workspaces
// (cli/, rig/, soak/, lab/, bench/, each into its own dist/), in the order in which they import each other.
// `node scripts/build.mjs [--force] [library|cli|rig|soak|lab|bench …]`; without names: all that have sources.
// Output whose source has gone is removed afterwards, so that dist/ is never missing in between.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamps = join(root, 'node_modules', '.cache', 'breakwater-build')
const typescript = join(root, 'node_modules', 'typescript')

/** @typedef {{ name: string, folder: string, config: string, needs: string[], again?: string[] }} Project */

/** Declarations say what is meant, to editors; what is installed has a budget, and runs without comments. */
const withoutComments = ['--declaration', 'false', '--removeComments']

/** @type {Project[]} */
const projects = [
  {
    name: 'library',
    folder: '.',
    config: 'tsconfig.build.json',
    needs: [],
    again: withoutComments,
  },
  { name: 'rig', folder: 'rig', config: 'rig/tsconfig.json', needs: [] },
  { name: 'cli', folder: 'cli', config: 'cli/tsconfig.json', needs: ['library'] },
  { name: 'lab', folder: 'lab', config: 'lab/tsconfig.json', needs: ['library', 'rig'] },
  { name: 'soak', folder: 'soak', config: 'soak/tsconfig.json', needs: ['library', 'rig'] },
  {
    name: 'bench',
    folder: 'bench',
    config: 'bench/tsconfig.json',
    needs: ['library', 'rig', 'cli'],
  },
]

/**
 * @param {string[]} names
 * @param {{ force?: boolean }} [options]
 * @returns {boolean} whether everything is built now
 */
export function build(names, { force = false } = {}) {
  const wanted = projects.filter(
    ({ name }) =>
      names.includes(name) ||
      projects.some((p) => names.includes(p.name) && p.needs.includes(name)),
  )
  return wanted.every((project) => buildOne(project, force))
}

/**
 * @param {Project} project
 * @param {boolean} force
 */
function buildOne(project, force) {
  const sources = sourcesOf(project)
  if (sources.length === 0) return true
  const stamp = join(stamps, project.name)
  const fingerprint = fingerprintOf(project)
  const dist = join(root, project.folder, 'dist')
  const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  const complete = sources.every((file) => existsSync(join(dist, outputOf(file))))
  if (!force && complete && built === fingerprint) return true

  console.error(`Building ${project.name} …`)
  rmSync(stamp, { force: true })
  const tsc = [join(typescript, 'bin', 'tsc'), '-p', join(root, project.config)]
  for (const more of project.again === undefined ? [[]] : [[], project.again]) {
    const { status } = spawnSync(process.execPath, [...tsc, ...more], { stdio: ['ignore', 2, 2] })
    if (status !== 0) return false
  }
  removeOrphans(dist, new Set(sources.map(outputOf)))
  mkdirSync(stamps, { recursive: true })
  writeFileSync(stamp, fingerprint)
  return true
}

/** @param {Project} project */
function sourcesOf({ folder }) {
  const source = join(root, folder, 'src')
  if (!existsSync(source)) return []
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')).sort()
}

/**
 * @param {Project} project
 * @returns {string}
 */
function fingerprintOf(project) {
  const hash = createHash('sha256')
  const files = ['tsconfig.json', project.config, join(project.folder, 'package.json')]
  for (const file of sourcesOf(project)) files.push(join(project.folder, 'src', file))
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  hash.update(readFileSync(join(typescript, 'package.json')))
  for (const { name, ...rest } of projects) {
    if (project.needs.includes(name)) hash.update(fingerprintOf({ name, ...rest }))
  }
  return hash.digest('hex')
}

/** @param {string} source */
function outputOf(source) {
  return source.replace(/\.ts$/, '.js')
}

/**
 * @param {string} dist
 * @param {Set<string>} outputs
 */
function removeOrphans(dist, outputs) {
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue
    if (!outputs.has(file.replace(/\.d\.ts$/, '.js'))) rmSync(join(dist, file))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const force = process.argv.includes('--force')
  const done = build(names.length > 0 ? names : projects.map(({ name }) => name), { force })
  process.exit(done ? 0 : 1)
}
