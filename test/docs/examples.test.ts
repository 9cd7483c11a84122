// Every TypeScript example of the documentation is type-checked against the built package, as a
// strict consumer would. One marked `ts run` is run as well, in a process and a Redis database of
// its own; what it prints must be what its `// → …` comments say.

import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as surroundings from './surroundings.ts'

interface Example {
  /** Page and line, as an editor finds it. */
  readonly at: string
  readonly file: string
  readonly code: string
  readonly runs: boolean
  readonly printed: readonly string[]
}

/** What examples import, and what that asks for. */
const linked = [
  'ioredis',
  'redis',
  'zod',
  'prom-client',
  '@opentelemetry/api',
  '@types/node',
  'express',
  '@types/express',
  'fastify',
  'hono',
  'koa',
  '@types/koa',
  '@nestjs/common',
  '@nestjs/core',
]

/** Given to an example that uses such a name and does not declare it. */
const names = [
  'db',
  'cache',
  'client',
  'sleep',
] as const satisfies readonly (keyof typeof surroundings)[]

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  .filter((page) => page.endsWith('.md'))
  .sort()
const examples = pages.flatMap(examplesOf)

function examplesOf(page: string): Example[] {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = text.matchAll(/^```(ts|typescript|js|mjs)( run)?\n([^]*?)^```$/gm)
  return [...blocks].map(([, , run, code = ''], index) => ({
    at: `${page}:${text.slice(0, text.indexOf(code)).split('\n').length}`,
    file: `${page.replace(/\W+/g, '-')}-${index}`,
    code,
    runs: run !== undefined,
    printed: [...code.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, said]) => said!),
  }))
}

let project = ''
let server: RedisServer
let databases = 0

beforeAll(async () => {
  server = await startRedisServer()
  project = mkdtempSync(join(tmpdir(), 'breakwater-docs-'))
  for (const scope of ['@types', '@opentelemetry', '@nestjs'])
    mkdirSync(join(project, 'node_modules', scope), { recursive: true })
  link('breakwater', root)
  for (const name of linked) link(name, join(root, 'node_modules', name))
  write('package.json', '{ "private": true, "type": "module" }')
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  copyFileSync(join(here, 'surroundings.ts'), join(project, 'surroundings.ts'))
  for (const { file, code } of examples) write(`${file}.ts`, whole(code))
}, 60_000)

afterAll(async () => {
  rmSync(project, { recursive: true, force: true })
  await server?.stop()
})

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  target: 'es2022',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  outDir: 'built',
  // As Nest's own are written.
  experimentalDecorators: true,
}

describe('the examples of the documentation', () => {
  it('are found', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/testing.md']))
    expect(examples.filter(({ runs }) => runs).length).toBeGreaterThan(10)
  })

  it('type-check in strict mode', () => {
    expect(typeErrors()).toBe('')
  }, 60_000)

  const running = examples.filter(({ runs }) => runs).map((one) => [one.at, one] as const)
  it.each(running)('at %s runs, and prints what it says', async (_, one) => {
    const code = `await import(${JSON.stringify(url(`${one.file}.js`))})
      const { client } = await import(${JSON.stringify(url('surroundings.js'))})
      client.disconnect()`
    // Rejects when it ends badly (an error, a failed test of its own) or not by itself.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--unhandled-rejections=strict', '--input-type=module', '-e', code],
      { cwd: project, timeout: 20_000, env: { ...process.env, REDIS_URL: redisUrl() } },
    )
    const lines = stdout.split('\n').filter((line) => line !== '')
    if (one.printed.length > 0) expect(lines).toEqual(one.printed)
  })
})

/** On one line with the first of the example, so that lines stay where they are. */
function whole(code: string): string {
  const needed = names.filter(
    (name) =>
      new RegExp(`\\b${name}\\b`).test(code) &&
      !new RegExp(`\\b(const|let|using|function) ${name}\\b|import .*\\b${name}\\b`).test(code),
  )
  return `import { ${needed.join(', ')} } from './surroundings.js'; ${code}\nexport {}\n`
}

function typeErrors(): string {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  try {
    return execFileSync(process.execPath, [tsc, '-p', project], { cwd: project, encoding: 'utf8' })
  } catch (error) {
    const { stdout } = error as { stdout: string }
    // What the types of frameworks have wrong among themselves is theirs.
    const ours = stdout.split('\n').filter((line) => !line.includes('/node_modules/@types/'))
    // To the page itself.
    return examples.reduce(
      (text, { file, at }) => text.replaceAll(`${file}.ts`, `[${at}] `),
      ours.join('\n').trim(),
    )
  }
}

function redisUrl(): string {
  return `${server.url}/${databases++ % 16}`
}

function url(file: string): string {
  return pathToFileURL(join(project, 'built', file)).href
}

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text)
}

function link(name: string, target: string): void {
  symlinkSync(target, join(project, 'node_modules', name), 'dir')
}
