// The tables of docs/options.md name every option that exists, and the default that holds.

import { existsSync, readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { entryDefaultNames, entryNames } from '../../src/cache/entry-rules.ts'
import { resolvePrecompute } from '../../src/cache/precompute-rules.ts'
import { cronSchedule } from '../../src/refresh/cron.ts'
import { adaptive, cacheDefaults, entryDefaults } from '../../src/cache/option-defaults.ts'
import { eventNames } from '../../src/core/events.ts'

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
const page = read('options.md')

/** Option → its default's cell, of one section. */
function table(heading: string): Map<string, string> {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  const rows = section.matchAll(/^\| `(\w+)` \| (.+?) \| /gm)
  return new Map([...rows].map(([, option, cell]) => [option!, cell!]))
}

const entry = table('How an entry lives')
const definition = table('On a definition')
const cache = table('On the cache alone')
const value = (cell: string | undefined): unknown =>
  runInNewContext(`(${/^`(.*)`$/.exec(cell ?? '')?.[1] ?? 'undefined'})`)

describe('docs/options.md', () => {
  it('names every option, and no other', () => {
    const known = (names: readonly string[]) => [...names].sort()
    expect([...entry.keys()].sort()).toEqual(known(entryDefaultNames))
    expect([...entry.keys(), ...definition.keys()].sort()).toEqual(known(entryNames))
    const withoutDefault = ['namespace', 'store', 'waitUntil', 'clock']
    expect([...cache.keys()].sort()).toEqual(
      [...Object.keys(cacheDefaults), ...withoutDefault].sort(),
    )
  })

  it.each(Object.entries(entryDefaults))('says the default of %s', (option, holds) => {
    if (holds === undefined) expect(entry.get(option)).toBe('= `loadTimeout`')
    else expect(value(entry.get(option))).toEqual(holds)
  })

  it.each(Object.entries(cacheDefaults))('says the default of %s', (option, holds) => {
    expect(value(cache.get(option))).toEqual(holds)
  })

  it('says what adaptive is', () => {
    const { initial, min, max } = adaptive
    expect(page).toContain(`\`'adaptive'\` begins at ${initial}, between ${min} and ${max}`)
  })
})

describe('docs/precompute.md', () => {
  it('says the defaults of alerts', () => {
    const said = /^\| `alerts\.(\w+)` \| (.+?) \| /gm
    const cells = Object.fromEntries(
      [...read('precompute.md').matchAll(said)].map(([, option, cell]) => [option!, cell!]),
    )
    const given = { every: 1_000, onMiss: 'wait' }
    const { alerts } = resolvePrecompute(given, 'precompute', cronSchedule)!
    const parts: Record<string, number> = { 'half the period': 500, 'a quarter of the period': 250 }
    expect(cells['failures']).toBe(`\`${alerts.failures}\``)
    expect(parts[cells['late']!]).toBe(alerts.lateMs)
    expect(parts[cells['expiring']!]).toBe(alerts.expiringMs)
    expect(alerts.notify).toBeUndefined()
  })
})

describe('docs/how-it-works.md', () => {
  it('names every event', () => {
    const [, section = ''] = read('how-it-works.md').split(/^## Events$/m)
    expect(eventNames.filter((name) => !section.includes(`\`${name}\``))).toEqual([])
  })
})

describe('docs/errors.md', () => {
  it('names every code', () => {
    const union = readFileSync(new URL('../../src/core/errors.ts', import.meta.url), 'utf8')
    const codes = [...union.matchAll(/^ {2}\| '([A-Z_]+)'$/gm)].map(([, code]) => code!)
    const named = [...read('errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code!)
    expect(codes.length).toBeGreaterThan(5)
    expect(codes.filter((code) => !named.includes(code))).toEqual([])
  })

  it('has a row for every word of Redis that a test meets', () => {
    const words =
      'READONLY LOADING OOM MISCONF BUSY NOSCRIPT MOVED ASK CROSSSLOT NOAUTH NOPERM WRONGPASS ' +
      'CLUSTERDOWN TRYAGAIN MASTERDOWN NOREPLICAS WRONGTYPE'
    const rows = read('errors.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const cells = rows.map((row) => row.split(' | ')[0]!).join()
    expect(words.split(' ').filter((word) => !cells.includes(`\`${word}\``))).toEqual([])
  })
})

describe('docs/reliability.md', () => {
  it('names no test that is not there', () => {
    const paths = [...read('reliability.md').matchAll(/\btest\/[\w./-]+\w/g)].map(([path]) => path)
    expect(paths.length).toBeGreaterThan(20)
    const missing = paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))
    expect(missing).toEqual([])
  })
})

describe('links between the pages', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'docs/options.md', 'docs/errors.md'].concat(
    [
      'how-it-works',
      'reliability',
      'testing',
      'codecs',
      'choosing-a-codec',
      'glossary',
      'dependencies',
      'guard',
      'postgres',
      'precompute',
      'choosing',
    ].map((name) => `docs/${name}.md`),
  )
  it.each(pages)('of %s lead somewhere', (from) => {
    const at = new URL(`../../${from}`, import.meta.url)
    const text = readFileSync(at, 'utf8')
    const links = [...text.matchAll(/\]\(([^)#:]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g)]
    for (const [, link, picture] of links) {
      expect(() => readFileSync(new URL((link ?? picture)!, at)), `${link}`).not.toThrow()
    }
  })
})
