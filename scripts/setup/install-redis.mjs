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

/** @returns {Promise<{ trouble: string }>} the end of a sentence: why there is still no server */
export async function installRedis() {
  const manager = managers.find(({ program }) => succeeds([program, '--version']))
  if (manager === undefined)
    return { trouble: 'no package manager that could install it is known here.' }
  const { program, root, steps } = manager
  if (root && process.getuid?.() !== 0) {
    return { trouble: `installing it with ${program} needs root.` }
  }
  console.error(`No Redis server was found: installing one with ${program} …`)
  const failed = await withoutServices(program === 'apt-get', () => {
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
 * @returns {Promise<T>}
 */
async function withoutServices(debian, work) {
  const own = debian && !existsSync(policy)
  // A Ctrl-C ends the package manager; having a handler keeps it from ending us before `finally`.
  const interrupted = () => process.exit(130)
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
  try {
    if (own) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    return work()
  } finally {
    if (own) rmSync(policy, { force: true })
    if (debian && succeeds(['systemctl', '--version'])) {
      // A policy of the administrator's own may have let it start.
      succeeds(['systemctl', 'stop', 'redis-server'])
      succeeds(['systemctl', 'disable', 'redis-server'])
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
