// Turns src/redis/lua/*.lua into src/redis/scripts.generated.ts, which is committed.
// Each .lua file opens with a header comment, one line each: `-- KEYS[1] what it is`,
// `-- ARGV[1] name what it is`, `-- returns what`. The script fails when the header and the indices
// used in the code disagree. A line `--@ name` stands for lua/parts/name.lua. Whole-line comments and indentation are stripped; no shebang is added.
// `--check` writes nothing and exits with 1 when the generated file is stale.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const luaFolder = join(root, 'src', 'redis', 'lua')
const target = join(root, 'src', 'redis', 'scripts.generated.ts')

/** @typedef {{ name: string, source: string, sha1: string, keys: number, argv: string[] }} Script */

const files = existsSync(luaFolder)
  ? readdirSync(luaFolder)
      .filter((file) => file.endsWith('.lua'))
      .sort()
  : []
/** @type {string[]} */
const faults = []
const generated = render(files.map((file) => embed(file)))

if (faults.length > 0) {
  for (const fault of faults) console.error(fault)
  process.exit(1)
}

const current = existsSync(target) ? readFileSync(target, 'utf8') : undefined
if (process.argv.includes('--check')) {
  if (files.length === 0 && current === undefined) process.exit(0)
  if (current !== generated) {
    console.error(
      'src/redis/scripts.generated.ts is stale: run `npm run lua` and commit the result',
    )
    process.exit(1)
  }
} else if (current !== generated) {
  writeFileSync(target, generated)
}

/** @param {string} file */
function linesOf(file) {
  return readFileSync(join(luaFolder, file), 'utf8').split(/\r?\n/)
}

/**
 * @param {string} file
 * @returns {Script}
 */
function embed(file) {
  const lines = linesOf(file).flatMap((line) => {
    const part = /^--@ (\S+)$/.exec(line)
    return part === null ? [line] : linesOf(join('parts', `${part[1]}.lua`))
  })
  const headerEnd = lines.findIndex((line) => !line.startsWith('--'))
  const header = lines.slice(0, headerEnd === -1 ? lines.length : headerEnd)
  const code = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
  const source = code.join('\n')

  const fault = (/** @type {string} */ text) => faults.push(`src/redis/lua/${file}: ${text}`)
  if (/\[=*\[/.test(lines.join('\n')))
    fault('expected no long brackets ([[ … ]]), which stripping would break')
  if (source.startsWith('#!')) fault('expected no shebang')
  if (!header.some((line) => /^--\s*returns\b/.test(line)))
    fault('expected a header line `-- returns …`')

  const keys = declared(header, /^--\s*KEYS\[(\d+)\]\s+\S/)
  const argv = declared(header, /^--\s*ARGV\[(\d+)\]\s+([A-Za-z]\w*)/)
  compare(
    'KEYS',
    keys.map(({ index }) => index),
    source,
    fault,
  )
  compare(
    'ARGV',
    argv.map(({ index }) => index),
    source,
    fault,
  )

  return {
    name: basename(file, '.lua').replace(/[-_](\w)/g, (_, letter) => letter.toUpperCase()),
    source,
    sha1: createHash('sha1').update(source).digest('hex'),
    keys: keys.length,
    argv: argv.map(({ name }) => name),
  }
}

/**
 * @param {string[]} header
 * @param {RegExp} pattern
 */
function declared(header, pattern) {
  return header.flatMap((line) => {
    const match = pattern.exec(line)
    return match === null ? [] : [{ index: Number(match[1]), name: match[2] ?? '' }]
  })
}

/**
 * @param {'KEYS' | 'ARGV'} table
 * @param {number[]} indices
 * @param {string} source
 * @param {(text: string) => void} fault
 */
function compare(table, indices, source, fault) {
  if (indices.some((index, position) => index !== position + 1)) {
    fault(`expected the header to list ${table} as 1, 2, 3 …, got ${indices.join(', ')}`)
  }
  const literal = [...source.matchAll(new RegExp(`\\b${table}\\[(\\d+)\\]`, 'g'))].map((m) =>
    Number(m[1]),
  )
  const used = new Set(literal)
  // `ARGV[i]` or `unpack(ARGV, …)`: then only what is named literally can be compared.
  const dynamic = new RegExp(`\\b${table}\\b(?!\\[\\d+\\])`).test(source)
  for (const index of used) {
    if (!indices.includes(index)) fault(`uses ${table}[${index}], which the header does not list`)
  }
  for (const index of indices) {
    if (!dynamic && !used.has(index))
      fault(`the header lists ${table}[${index}], which nothing uses`)
  }
}

/** @param {Script[]} scripts */
function render(scripts) {
  const entries = scripts.map(
    ({ name, source, sha1, keys, argv }) => `  ${name}: {
    name: ${JSON.stringify(name)},
    source: ${JSON.stringify(source)},
    sha1: ${JSON.stringify(sha1)},
    keys: ${keys},
    argv: ${JSON.stringify(argv)},
  },
`,
  )
  return `// Generated from src/redis/lua/*.lua by scripts/embed-lua.mjs. Do not edit: run \`npm run lua\`.

export interface ScriptSource {
  readonly name: string
  readonly source: string
  readonly sha1: string
  readonly keys: number
  readonly argv: readonly string[]
}

export const scripts = {
${entries.join('')}} as const satisfies Record<string, ScriptSource>
`
}
