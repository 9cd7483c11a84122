// Installs a Redis server with the system's package manager, where this user may. Only the program
// is wanted: on Debian and Ubuntu a policy-rc.d that exists only meanwhile keeps the package from
// starting a system service, and the service is disabled afterwards. Never asks and never uses sudo.

import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

const policy = '/usr/sbin/policy-rc.d'
const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=120', '-q', '-y']

/** @type {{ program: string, root: boolean, steps: string[][] }[]} each step: the first that succeeds ends it */
const managers = [
  {
    program: 'apt-get',
    root: true,
    steps: [
      [...apt, 'update'],
      [...apt, 'install', '--no-install-recommends', 'redis-server'],
    ],
  },
  { program: 'apk', root: true, steps: [['apk', 'add', '--no-cache', 'redis']] },
  { program: 'dnf', root: true, steps: [['dnf', 'install', '-y', '/usr/bin/redis-server']] },
  { program: 'brew', root: false, steps: [['brew', 'install', 'redis']] },
]

/** @returns {{ trouble: string }} the end of a sentence: why there is still no server */
export function installRedis() {
  const manager = managers.find(({ program }) => succeeds([program, '--version']))
  if (manager === undefined)
    return { trouble: 'no package manager that could install it is known here.' }
  const { program, root, steps } = manager
  if (root && process.getuid?.() !== 0) {
    return { trouble: `installing it with ${program} needs root.` }
  }
  console.error(`No Redis server was found: installing one with ${program} …`)
  const failed = withoutServices(program === 'apt-get', () => {
    const last = steps.at(-1)
    return steps.find((step) => !run(step) && step === last)
  })
  return {
    trouble:
      failed === undefined ? 'what was installed does not run.' : `\`${failed.join(' ')}\` failed.`,
  }
}

/**
 * @template T
 * @param {boolean} debian
 * @param {() => T} work
 * @returns {T}
 */
function withoutServices(debian, work) {
  const own = debian && !existsSync(policy)
  const remove = () => rmSync(policy, { force: true })
  // Ctrl-C reaches apt-get as well, so the synchronous work ends and `finally` runs.
  if (own) {
    writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    process.once('exit', remove)
  }
  try {
    return work()
  } finally {
    if (own) {
      remove()
      process.removeListener('exit', remove)
    }
    if (debian && succeeds(['systemctl', '--version']))
      succeeds(['systemctl', 'disable', 'redis-server'])
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
