// Decides which Redis the lab and the tests use, in this order: the server at REDIS_URL, which must
// answer; a redis-server or valkey-server on this machine; one installed with the system's package
// manager, where that is allowed; none. Starting and stopping servers is left to rig/, which finds
// the program through BREAKWATER_REDIS_SERVER (a path, or "none").

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPrograms, troubleWith } from './install-programs.mjs'
import { ping } from './ping.mjs'

const programs = ['redis-server', 'valkey-server']
const usualFolders = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin']

/**
 * @returns {Promise<{ server: string, missing?: string }>} `server`: the value for
 *   BREAKWATER_REDIS_SERVER; `missing`: what to do about it when there is no Redis at all
 */
export async function findRedis() {
  const url = process.env.REDIS_URL
  if (url !== undefined && url !== '') {
    const trouble = await ping(url)
    if (trouble === undefined) return { server: findProgram() ?? 'none' }
    console.error(
      `REDIS_URL is set, but no Redis answers there: ${trouble}. ` +
        'Start that server, correct the address, or unset REDIS_URL to use a private server.',
    )
    process.exit(1)
  }
  if (process.env.BREAKWATER_REDIS_SERVER === 'none')
    return { server: 'none', missing: 'It was disabled by BREAKWATER_REDIS_SERVER=none.' }
  const present = findProgram()
  if (present !== undefined) return { server: present }
  await installPrograms(['redis'])
  const installed = findProgram()
  if (installed !== undefined) return { server: installed }
  return {
    server: 'none',
    missing:
      `No Redis was found: REDIS_URL is not set, neither ${programs.join(' nor ')} is on the PATH, ` +
      `and ${troubleWith('redis')} Install Redis 6.2 or newer (or Valkey), or set REDIS_URL to a server that this ` +
      'machine can reach, and run the command again.',
  }
}

/** Whether `findRedis` will have to install one. */
export function lacksRedis() {
  const { REDIS_URL: url = '', BREAKWATER_REDIS_SERVER: chosen = '' } = process.env
  return url === '' && chosen === '' && findProgram() === undefined
}

/** @returns {string | undefined} */
function findProgram() {
  const chosen = process.env.BREAKWATER_REDIS_SERVER
  if (chosen !== undefined && chosen !== '') {
    if (chosen !== 'none' && works(chosen)) return chosen
    if (chosen === 'none') return undefined
    console.error(
      `BREAKWATER_REDIS_SERVER is "${chosen}", which is not a Redis server that runs here.`,
    )
    process.exit(1)
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return programs
    .flatMap((program) => [...folders, ...usualFolders].map((folder) => join(folder, program)))
    .find((path) => works(path))
}

/** @param {string} path */
function works(path) {
  try {
    accessSync(path, constants.X_OK)
  } catch {
    return false
  }
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0
}
