// The built package as it is used: by require() and import(), twice in one process, and in a script
// that ends without close() (T159).

import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>
}
let project = ''

/** Two copies of the package, as two versions in one tree of dependencies would be. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'breakwater-built-'))
  for (const name of ['breakwater', 'another']) {
    const folder = join(project, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, name }))
  }
  const peers = [
    '@bufbuild/protobuf',
    'pg',
    'bullmq',
    'prom-client',
    '@opentelemetry/api',
    'structured-headers',
    'negotiator',
    'fresh',
    '@nestjs/common',
    '@nestjs/core',
    'rxjs',
  ]
  for (const name of ['lru-cache', 'msgpackr', ...peers]) {
    mkdirSync(join(project, 'node_modules', dirname(name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name), 'dir')
  }
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

function node(extension: 'mjs' | 'cjs', code: string): string {
  const file = join(project, `script.${extension}`)
  writeFileSync(file, code)
  return execFileSync(process.execPath, [file], { cwd: project, encoding: 'utf8', timeout: 20_000 })
}

const subpaths = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== './package.json')
  .map((subpath) => `breakwater${subpath.slice(1)}`)

describe('the built package', () => {
  it.each(subpaths)('%s gives the same by require() and by import()', (specifier) => {
    const said = node(
      'cjs',
      `const required = require('${specifier}')
       import('${specifier}').then((imported) => {
         const names = Object.keys(imported)
         console.log(names.length > 0 && names.every((name) => imported[name] === required[name]))
       })`,
    )
    expect(said).toBe('true\n')
  })

  it('works from CommonJS, errors included', () => {
    const said = node(
      'cjs',
      `const { createCache, BreakwaterError } = require('breakwater')
       const cache = createCache({ namespace: 'a', ttl: '60s' })
       cache.getOrLoad('a', async () => new Map([['x', 1n]])).then(async (value) => {
         console.log(value.get('x'))
         try { createCache({ namespace: 'a', tll: 5 }) } catch (error) {
           console.log(error instanceof BreakwaterError, error.code, error.message)
         }
         await cache.close()
       })`,
    )
    expect(said).toBe('1n\ntrue INVALID_OPTION tll: unknown option, did you mean ttl?\n')
  })

  it('of two copies in one process, one takes the store, codec and clock that the other has made', () => {
    const said = node(
      'mjs',
      `import { createCache } from 'breakwater'
       import { createCache as another } from 'another'
       import { memoryStore, manualClock, faultyStore } from 'breakwater/testing'
       import { json } from 'another/codecs/json'
       const store = faultyStore(memoryStore()), clock = manualClock()
       const options = { namespace: 'a', ttl: '60s', store, clock, codec: json() }
       const [one, two] = [createCache(options), another(options)]
       await clock.advance(10)
       let loads = 0
       const load = () => new Promise((resolve) => clock.after(100, () => resolve({ n: ++loads, at: new Date(5) })))
       const got = [one.getOrLoad('k', load), two.getOrLoad('k', load)]
       await clock.advance(500)
       console.log(JSON.stringify(await Promise.all(got)), loads)
       await one.invalidate('k')
       await clock.advance(1)
       console.log((await two.peek('k')).state)`,
    )
    const value = '{"n":1,"at":"1970-01-01T00:00:00.005Z"}'
    expect(said).toBe(`[${value},${value}] 1\nmissing\n`)
  })

  it.each([
    ['nothing', ''],
    ['a load that never ends', "void cache.getOrLoad('b', () => new Promise(() => {}))"],
    ['a store', "createCache({ namespace: 'b', ttl: '1s', store: memoryStore() })"],
  ])('T159 keeps no process alive, with %s under way', (_, more) => {
    const said = node(
      'mjs',
      `import { createCache } from 'breakwater'
       import { memoryStore } from 'breakwater/testing'
       const cache = createCache({ namespace: 'a', ttl: '1h', staleIfError: '1d' })
       console.log(await cache.getOrLoad('a', async () => 5))
       void memoryStore; ${more}`,
    )
    expect(said).toBe('5\n')
  })

  it('reads no environment variable once it is loaded, and writes nothing', () => {
    const said = node(
      'mjs',
      `import { createCache } from 'breakwater'
       const read = [], real = process.env
       process.env = new Proxy(real, { get(_, name) { read.push(String(name)); return real[name] } })
       const cache = createCache({ namespace: 'a', ttl: '1h' })
       await cache.getOrLoad('a', async () => ({ a: [new Date()] }))
       await cache.close()
       process.env = real
       console.log(JSON.stringify(read))`,
    )
    expect(said).toBe('[]\n')
  })
})
