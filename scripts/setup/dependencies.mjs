// Installs the dependencies when node_modules is missing or stale, and does nothing otherwise.
// Stale means that package.json, package-lock.json and what npm recorded as installed disagree.
// `npm ci` installs exactly what the lockfile says; `npm install` is for a package.json that was
// edited, and for when `npm ci` fails.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} root */
export function installDependencies(root) {
  const reason = whyStale(root)
  if (reason === undefined) return
  console.error(`Installing dependencies (${reason}). This takes a minute the first time …`)
  if (!manifestsChanged(root) && npm(root, 'ci')) return
  if (npm(root, 'install')) return
  console.error('The dependencies could not be installed: see what npm says above.')
  process.exit(1)
}

/**
 * @param {string} root
 * @param {string} command
 */
function npm(root, command) {
  // A NODE_ENV of "production" must not leave out what the build and the tests need.
  const options = [command, '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const cli = process.env.npm_execpath
  const viaNode = cli !== undefined && /npm-cli\.c?js$/.test(cli)
  const { status } = spawnSync(
    viaNode ? process.execPath : 'npm',
    viaNode ? [cli, ...options] : options,
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: !viaNode && process.platform === 'win32',
    },
  )
  return status === 0
}

/**
 * @param {string} root
 * @returns {string | undefined}
 */
function whyStale(root) {
  const recorded = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(recorded)) return 'node_modules is missing'
  const wanted = readJson(join(root, 'package-lock.json')).packages
  const installed = readJson(recorded).packages
  if (manifestsChanged(root)) return 'package.json has changed'

  for (const [path, { version, link, optional }] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) continue
    const there = installed[path]
    if (there === undefined && optional) continue // built for another platform
    if (there === undefined || (!link && there.version !== version)) return `${path} has changed`
    if (!existsSync(join(root, path))) return `${path} is missing`
  }
  return undefined
}

/**
 * Whether a package.json asks for something else than package-lock.json records.
 * @param {string} root
 */
function manifestsChanged(root) {
  const wanted = readJson(join(root, 'package-lock.json')).packages
  return ['', ...readJson(join(root, 'package.json')).workspaces].some((folder) => {
    const manifest = readJson(join(root, folder, 'package.json'))
    return ['dependencies', 'devDependencies', 'optionalDependencies'].some(
      (kind) => !sameRecord(manifest[kind], wanted[folder]?.[kind]),
    )
  })
}

/**
 * @param {Record<string, string>} [left]
 * @param {Record<string, string>} [right]
 */
function sameRecord(left = {}, right = {}) {
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].every((name) => left[name] === right[name])
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
