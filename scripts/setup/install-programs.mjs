// Installs programs with the system's package manager, where this user may; several in one call, since
// each takes its time. Only the programs are wanted: on Debian and Ubuntu a policy-rc.d that exists
// only meanwhile keeps packages from starting system services, and these are disabled afterwards.
// Never asks and never uses sudo.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const policy = '/usr/sbin/policy-rc.d'
const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=120', '-q', '-y']

/** @typedef {'redis' | 'chromium' | 'prometheus'} Program */
/** @typedef {'apt-get' | 'apk' | 'dnf' | 'brew'} ManagerName */

/** @type {Record<Program, { title: string, packages: Partial<Record<ManagerName, string>>, service?: string }>} */
const programs = {
  redis: {
    title: 'a Redis server',
    packages: {
      'apt-get': 'redis-server',
      apk: 'redis',
      dnf: '/usr/bin/redis-server',
      brew: 'redis',
    },
    service: 'redis-server',
  },
  chromium: {
    title: 'Chromium',
    packages: { 'apt-get': 'chromium', apk: 'chromium', dnf: 'chromium' },
  },
  prometheus: {
    title: 'Prometheus',
    packages: { 'apt-get': 'prometheus', apk: 'prometheus', brew: 'prometheus' },
    service: 'prometheus',
  },
}

/** @type {{ name: ManagerName, root: boolean, prepare?: string[], install: string[] }[]} */
const managers = [
  {
    name: 'apt-get',
    root: true,
    prepare: [...apt, 'update'],
    install: [...apt, 'install', '--no-install-recommends'],
  },
  { name: 'apk', root: true, install: ['apk', 'add', '--no-cache'] },
  { name: 'dnf', root: true, install: ['dnf', 'install', '-y'] },
  { name: 'brew', root: false, install: ['brew', 'install'] },
]

/** What came of it, so that each is tried once. @type {Map<Program, string>} */
const troubles = new Map()

/**
 * @param {Program} name
 * @returns {string} the end of a sentence: why there is still none, after `installPrograms`
 */
export function troubleWith(name) {
  return troubles.get(name) ?? 'what was installed does not run.'
}

/**
 * In a process of its own, while this one waits for others. Who still misses one tries again, and says why.
 *
 * @param {string[]} wanted
 * @returns {Promise<void>}
 */
export async function installBeside(wanted) {
  if (wanted.length === 0) return
  const self = fileURLToPath(import.meta.url)
  const child = spawn(process.execPath, [self, ...wanted], { stdio: ['ignore', 2, 2] })
  await new Promise((resolve) => child.on('exit', resolve).on('error', resolve))
}

/** @param {Program[]} wanted those that are missing */
export async function installPrograms(wanted) {
  const names = wanted.filter((name) => !troubles.has(name))
  if (names.length === 0) return
  const set = (/** @type {Program[]} */ which, /** @type {string} */ trouble) =>
    which.forEach((name) => troubles.set(name, trouble))

  const manager = managers.find(({ name }) => succeeds([name, '--version']))
  if (manager === undefined) {
    return set(names, 'no package manager that could install it is known here.')
  }
  if (manager.root && process.getuid?.() !== 0) {
    return set(names, `installing it with ${manager.name} needs root.`)
  }
  const known = names.filter((name) => programs[name].packages[manager.name] !== undefined)
  set(
    names.filter((name) => !known.includes(name)),
    `no package of ${manager.name} is known to have it.`,
  )
  if (known.length === 0) return
  const titles = known.map((name) => programs[name].title).join(' and ')
  console.error(`Missing: ${titles}. Installing with ${manager.name} …`)
  await withoutServices(manager.name === 'apt-get' ? known : [], () => {
    for (const name of known) troubles.set(name, 'what was installed does not run.')
    const { prepare, install } = manager
    if (prepare !== undefined) run(prepare) // what is known already may do
    const command = (/** @type {Program[]} */ which) => [
      ...install,
      ...which.map((name) => programs[name].packages[manager.name] ?? ''),
    ]
    if (run(command(known))) return
    // One that this system does not have must not keep the others away.
    for (const name of known) {
      if (known.length > 1 && run(command([name]))) continue
      troubles.set(name, `\`${command([name]).join(' ')}\` failed.`)
    }
  })
}

/**
 * @param {Program[]} names of packages of Debian's, which start services
 * @param {() => void} work
 */
async function withoutServices(names, work) {
  const services = names.flatMap((name) => programs[name].service ?? [])
  const own = services.length > 0 && !existsSync(policy)
  // A Ctrl-C ends the package manager; having a handler keeps it from ending us before `finally`.
  const interrupted = () => process.exit(130)
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
  try {
    if (own) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    work()
  } finally {
    if (own) rmSync(policy, { force: true })
    if (services.length > 0 && succeeds(['systemctl', '--version'])) {
      // A policy of the administrator's own may have let it start.
      succeeds(['systemctl', 'stop', ...services])
      succeeds(['systemctl', 'disable', ...services])
    }
    await new Promise((resolve) => setImmediate(resolve)) // a signal that came meanwhile is seen now
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}

/** @param {string[]} command */
function run([program = '', ...options]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', HOMEBREW_NO_AUTO_UPDATE: '1' }
  return spawnSync(program, options, { stdio: ['ignore', 2, 2], env }).status === 0
}

/** @param {string[]} command */
function succeeds([program = '', ...options]) {
  return spawnSync(program, options, { stdio: 'ignore' }).status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installPrograms(/** @type {Program[]} */ (process.argv.slice(2)))
}
