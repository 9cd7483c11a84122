/**
 * What has been said about options, where: on the command line, which comes before a file, which comes
 * before the environment. Names that nobody knows are refused. Every value is text from here on.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { usage } from '../ending.ts'
import { proxyOptions, sharedOptions, type ProxyOption } from './option-table.ts'
import { flagOf, variableOf } from './options.ts'

export interface Said {
  readonly text: string
  /** What to call it in a sentence: `--ttl`, `ttl in proxy.json`, `BREAKWATER_PROXY_TTL`. */
  readonly as: string
}

export type Sources = ReadonlyMap<string, Said>

const known: readonly ProxyOption[] = [...proxyOptions, ...sharedOptions]

export function fromCommandLine(
  given: Readonly<Record<string, string | boolean | undefined>>,
): Sources {
  const said = new Map<string, Said>()
  for (const { name } of known) {
    if (given[name] !== undefined) said.set(name, { text: String(given[name]), as: flagOf(name) })
  }
  return said
}

/** Those of all subcommands have kept their own names. */
const others = { redis: 'REDIS_URL', namespace: 'BREAKWATER_NAMESPACE' } as const

export function fromEnvironment(env: NodeJS.ProcessEnv): Sources {
  const said = new Map<string, Said>()
  for (const [name, variable] of Object.entries(others)) {
    if (env[variable]) said.set(name, { text: env[variable], as: variable })
  }
  const names = new Map(known.map(({ name }) => [variableOf(name), name]))
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('BREAKWATER_PROXY_') || !text) continue
    const name = names.get(variable)
    if (name === undefined) throw usage(`${variable}: ${noOption(variable, [...names.keys()])}`)
    said.set(name, { text, as: variable })
  }
  return said
}

export async function fromFile(file: string): Promise<Sources> {
  const content = await contentOf(file)
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw usage(`--config: expected an object of options in ${file}, got something else`)
  }
  const said = new Map<string, Said>()
  for (const [name, value] of Object.entries(content)) {
    const option = known.find((one) => one.name === name)
    if (option === undefined) {
      throw usage(
        `${name} in ${file}: ${noOption(
          name,
          known.map((one) => one.name),
        )}`,
      )
    }
    const as = `${name} in ${file}`
    if (value !== undefined) said.set(name, { text: textOf(value, option, as), as })
  }
  return said
}

async function contentOf(file: string): Promise<unknown> {
  try {
    if (!/\.m?js$/.test(file)) return JSON.parse(await readFile(file, 'utf8'))
    const made = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown }
    return made.default
  } catch (error) {
    throw usage(`--config: expected a file that can be read, got ${(error as Error).message}`)
  }
}

function textOf(value: unknown, { kind }: ProxyOption, as: string): string {
  const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object')
  if (kind === 'list' && isList) return value.join(',')
  if (kind === 'flag' ? typeof value === 'boolean' : isPlain(value)) return String(value)
  const expected = { list: 'a list or text', flag: 'true or false' }[kind as 'list' | 'flag']
  throw usage(`${as}: expected ${expected ?? 'text or a number'}, got ${JSON.stringify(value)}`)
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function noOption(name: string, names: readonly string[]): string {
  const bare = (text: string): string => text.replace(/[-_]/g, '').toLowerCase()
  const near = names.find((one) => bare(one) === bare(name))
  const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean ${near}?`
  return `expected the name of an option; ${hint}`
}
