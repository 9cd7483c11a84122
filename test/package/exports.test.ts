// What is published, as a stranger gets it: packed, installed into an empty project that has none of
// the optional peers, loaded by import() and by require(), and type-checked by a strict consumer.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>
}
const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== './package.json')
  .map((subpath) => `breakwater${subpath.slice(1)}`)

/** What a subpath is for, and does not load without. */
const needed: Readonly<Record<string, string>> = {
  'breakwater/codecs/protobuf': '@bufbuild/protobuf',
  'breakwater/postgres': 'pg',
  'breakwater/bullmq': 'bullmq',
  'breakwater/prometheus': 'prom-client',
  'breakwater/opentelemetry': '@opentelemetry/api',
  'breakwater/nest': '@nestjs/common',
}
/** What these need, whichever is missed first. */
const ofHttp = ['structured-headers', 'negotiator', 'fresh']
const http = ['http', 'express', 'fastify', 'koa', 'hono', 'fetch'].map(
  (one) => `breakwater/${one}`,
)
/** What comes with these, and what types alone are of. */
const besides = ['@nestjs/core', 'rxjs', 'express', 'fastify', 'hono', 'koa']
const alone = specifiers.filter(
  (specifier) => needed[specifier] === undefined && !http.includes(specifier),
)

let project = ''

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'breakwater-consumer-'))
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root),
  ) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  run('npm', ['install', ...quiet, join(project, packed.filename)], project)
}, 120_000)

afterAll(() => {
  rmSync(project, { recursive: true, force: true })
})

describe('the published package, without its optional peers', () => {
  it.each(alone)('%s loads by import()', (specifier) => {
    const code = `const m = await import('${specifier}'); console.log(Object.keys(m).length)`
    expect(Number(run('node', ['--input-type=module', '-e', code], project))).toBeGreaterThan(0)
  })

  it.each(alone)('%s loads by require()', (specifier) => {
    const code = `console.log(Object.keys(require('${specifier}')).length)`
    expect(Number(run('node', ['-e', code], project))).toBeGreaterThan(0)
  })

  it.each(Object.entries(needed))('%s says that it needs %s', (specifier, peer) => {
    const code = `await import('${specifier}')`
    expect(() => run('node', ['--input-type=module', '-e', code], project)).toThrow(
      `Cannot find package '${peer}'`,
    )
  })

  it.each(http)('%s says what it needs', (specifier) => {
    const code = `await import('${specifier}')`
    expect(() => run('node', ['--input-type=module', '-e', code], project)).toThrow(
      new RegExp(`Cannot find package '(?:${ofHttp.join('|')})'`),
    )
  })

  it('ships no sources, source maps or tests', () => {
    const files = run('tar', ['-tf', tarball()], project).trim().split('\n')
    expect(files.filter((file) => /\.map$|\/(src|test|lab|bench|rig)\//.test(file))).toEqual([])
  })
})

describe('the published package, with its optional peers', () => {
  beforeAll(() => {
    for (const peer of new Set([...Object.values(needed), ...ofHttp, ...besides])) {
      mkdirSync(join(project, 'node_modules', dirname(peer)), { recursive: true })
      link(peer, join(root, 'node_modules', peer), project)
    }
  })

  it.each([...Object.keys(needed), ...http])(
    '%s loads by import() and by require()',
    (specifier) => {
      const code = `const m = await import('${specifier}'); console.log(Object.keys(m).length)`
      expect(Number(run('node', ['--input-type=module', '-e', code], project))).toBeGreaterThan(0)
      const required = `console.log(Object.keys(require('${specifier}')).length)`
      expect(Number(run('node', ['-e', required], project))).toBeGreaterThan(0)
    },
  )
})

describe.each(['ioredis', 'ioredis5'])('a strict consumer with %s', (client) => {
  it.each(['module', 'commonjs'])('type-checks as %s', (type) => {
    const consumer = join(project, `types-${client}-${type}`)
    mkdirSync(join(consumer, 'node_modules', '@types'), { recursive: true })
    link('breakwater', join(project, 'node_modules', 'breakwater'), consumer)
    link('ioredis', join(root, 'node_modules', client), consumer)
    link('@types/node', join(root, 'node_modules', '@types', 'node'), consumer)
    writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, type }))
    const imports = specifiers.map(
      (specifier, index) => `import * as m${index} from '${specifier}'`,
    )
    const uses = specifiers.map((_, index) => `void m${index}`)
    writeFileSync(join(consumer, 'index.ts'), [...imports, ...uses, ''].join('\n'))
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    expect(run('node', [tsc, '-p', consumer], consumer)).toBe('')
  })
})

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  types: ['node'],
}

function link(name: string, target: string, consumer: string): void {
  symlinkSync(target, join(consumer, 'node_modules', name), 'dir')
}

function tarball(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  return join(project, `breakwater-${version}.tgz`)
}

function run(program: string, options: string[], cwd: string): string {
  try {
    return execFileSync(program, options, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${options.join(' ')} failed:\n${stdout}\n${stderr}`, {
      cause: error,
    })
  }
}
