// Every default that a docstring of the public types states is the one that holds (convention 4).

import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { adaptive, cacheDefaults, entryDefaults } from '../../src/cache/option-defaults.ts'

const source = readFileSync(new URL('../../src/api.ts', import.meta.url), 'utf8')

/** Options of one interface with the docstring before each, as they stand in the source. */
function documented(name: string): Map<string, string> {
  const from = source.indexOf(`export interface ${name}`)
  const body = source.slice(from, source.indexOf('\nexport ', from + 1))
  const members = body.matchAll(/\/\*\*\s+(?:\* )?((?:(?!\*\/)[^])*?)\s+\*\/\s*(\w+)\??:/g)
  return new Map(
    [...members].map(([, text, option]) => [option!, text!.replaceAll(/\s+\* /g, ' ')]),
  )
}

/** What a docstring says after "Default": code between backticks, or the name of another option. */
function stated(text: string): unknown {
  const [, code] = /Default:? `([^`]+)`/.exec(text) ?? []
  if (code === undefined || /^[a-z]\w*$/i.test(code)) {
    return code === 'true' ? true : code === 'false' ? false : { words: code }
  }
  return runInNewContext(`(${code})`)
}

const entry = documented('EntryDefaults')
const cache = documented('CacheOptions')
const ofEntry = documented('EntryOptions')

describe('the defaults in the docstrings', () => {
  it('are read from the source as it stands', () => {
    expect([...entry.keys()]).toEqual(expect.arrayContaining(['ttl', 'lease', 'earlyRefresh']))
    expect([...cache.keys()]).toEqual(expect.arrayContaining(['store', 'memory', 'limit']))
  })

  it.each(Object.entries(entryDefaults))('of %s is the one that holds', (option, value) => {
    const text = entry.get(option)
    expect(text, `no docstring for ${option}`).toBeDefined()
    // What follows another option says which.
    if (value === undefined) expect(text).toContain('Default: `loadTimeout`')
    else expect(stated(text!)).toEqual(value)
  })

  it.each(Object.entries(cacheDefaults))('of %s is the one that holds', (option, value) => {
    const text = cache.get(option)
    expect(text, `no docstring for ${option}`).toBeDefined()
    expect(stated(text!)).toEqual(value)
  })

  it('say what adaptive is', () => {
    const { initial, min, max } = adaptive
    const text = cache.get('limit')
    expect(text).toContain(`begins at ${initial} `)
    expect(text).toContain(`from ${min} to ${max}`)
  })

  it.each(['memory', 'store'])('of a definition’s %s is that it is used', (option) => {
    expect(stated(ofEntry.get(option)!)).toBe(true)
  })

  it('are stated for no option that has none', () => {
    const known = new Set([...Object.keys(entryDefaults), ...Object.keys(cacheDefaults)])
    const others = [...entry, ...cache].filter(([option]) => !known.has(option))
    const claims = others.filter(([, text]) => /Default/.test(text)).map(([option]) => option)
    // What is no plain value is said in words.
    expect(claims.sort()).toEqual(['clock', 'codec', 'isFailure'])
  })
})
