// What figures were measured with. Nothing that names the machine or its owner.

import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { startRedisServer } from '@breakwater/rig'
import { connectIoredis } from '../contenders/connect.ts'

export interface Machine {
  /** The day, as 2026-01-31. */
  readonly measured: string
  readonly node: string
  readonly redis: string
  readonly platform: string
  readonly cores: number
  /** Processes that wanted to run in the minute before: near 0 is a quiet machine. */
  readonly loadBefore: number
}

export async function describeMachine(): Promise<Machine> {
  const loadBefore = Number((loadavg()[0] ?? 0).toFixed(2))
  return {
    measured: new Date().toISOString().slice(0, 10),
    node: process.version.slice(1),
    redis: await redisVersion(),
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    loadBefore,
  }
}

async function redisVersion(): Promise<string> {
  const server = await startRedisServer()
  try {
    const redis = await connectIoredis('ioredis5', server.url)
    const [, version] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? []
    redis.disconnect()
    return version ?? 'unknown'
  } finally {
    await server.stop()
  }
}

/** Pinned exactly, so the lockfile has no say in it. `npm:ioredis@6.0.0` is version 6.0.0. */
export function packageVersions(): Record<string, string> {
  const bench = readPackage('../../package.json')
  const library = readPackage('../../../package.json')
  const pinned = Object.entries(bench.devDependencies ?? {})
  const versions = pinned.map(([name, range]) => [name, range.replace(/^npm:.*@/, '')])
  return { breakwater: library.version, ...Object.fromEntries(versions) }
}

interface PackageFile {
  readonly version: string
  readonly devDependencies?: Readonly<Record<string, string>>
}

function readPackage(path: string): PackageFile {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as PackageFile
}
