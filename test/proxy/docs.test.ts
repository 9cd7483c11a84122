// The table of docs/proxy.md, what --help prints, and what is checked are one list.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { proxyOptions, type ProxyOption } from '../../cli/src/proxy/option-table.ts'
import { flagOf } from '../../cli/src/proxy/options.ts'
import { proxySettings } from '../../cli/src/proxy/settings.ts'
import { fromCommandLine, fromEnvironment } from '../../cli/src/proxy/sources.ts'
import { runCommand } from '../support/run-command.ts'

const page = readFileSync(new URL('../../docs/proxy.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `(--[a-z-]+(?: <[a-z]+>)?)` \| (.*?) \| /gm)].map(
  ([, flags, preset]) => [flags!, preset!] as const,
)
const options: readonly ProxyOption[] = proxyOptions
const flagsOf = ({ name, value }: ProxyOption): string =>
  value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`

it('the table has every option in the order of --help, and no other', async () => {
  const { stdout } = await runCommand(['proxy', '--help'])
  const own = stdout.slice(0, stdout.indexOf('Global Options:'))
  const shown = [...own.matchAll(/^ {2}(--[a-z-]+(?: <[a-z]+>)?)/gm)].map(([, flags]) => flags)
  expect(rows.map(([flags]) => flags)).toEqual(shown)
  expect(shown).toEqual([...options.map(flagsOf), '--config <file>'])
})

it('the table and --help say the defaults that hold', async () => {
  const presets = new Map(rows)
  for (const option of options) {
    if (option.preset !== undefined)
      expect([option.name, presets.get(flagsOf(option))]).toEqual([option.name, option.preset])
  }
  expect(proxySettings([fromCommandLine({ origin: 'http://127.0.0.1:1' })])).toMatchObject({
    port: 8_080,
    host: undefined,
    cache: { ttlMs: 60_000, statuses: undefined },
    admin: { port: 9_180, host: '127.0.0.1' },
    workers: 1,
  })
})

it('the file and the variables on the page are taken', () => {
  const [, json = ''] = /```json\n([^]*?)```/.exec(page) ?? []
  const names = options.map(({ name }) => name as string)
  expect(
    Object.keys(JSON.parse(json))
      .filter((name) => name !== 'redis')
      .every((name) => names.includes(name)),
  ).toBe(true)
  for (const [variable] of page.matchAll(/BREAKWATER_PROXY_[A-Z_]+/g)) {
    expect(fromEnvironment({ [variable]: 'x' }).size).toBe(1)
  }
})
