// The rules of the lab's live page that need no browser: who is let in, which button can be pressed
// when, where a browser is opened, and what a press does to the verdict.

import {
  type ActionId,
  actionIds,
  browserCommand,
  type Circumstances,
  judge,
  planFor,
  readFlags,
  refusal,
  whyNot,
} from '@breakwater/lab'
import { describe, expect, test } from 'vitest'

describe('the page is for who has its address', () => {
  const token = 'a'.repeat(32)
  const good = { host: '127.0.0.1:4000', origin: undefined, fetchSite: undefined, token }

  test.each([
    ['its own address', {}],
    ['localhost', { host: 'localhost:4000' }],
    ['a tunnel with a port of its own', { host: 'localhost:80', origin: 'http://localhost:80' }],
    ['IPv6', { host: '[::1]:4000' }],
    ['its own script', { origin: 'http://127.0.0.1:4000', fetchSite: 'same-origin' }],
    ['an address that was typed', { fetchSite: 'none' }],
  ])('%s is let in', (_, knock) => {
    expect(refusal({ ...good, ...knock }, token)).toBeUndefined()
  })

  test.each([
    ['a name that leads here by rebinding', { host: 'evil.example:4000' }],
    ['a name that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['no Host', { host: undefined }],
    ['another site', { origin: 'http://evil.example' }],
    ['a sandboxed page', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:3000' }],
    ['a page of another port, by what the browser says', { fetchSite: 'same-site' }],
    ['a link or an image elsewhere', { fetchSite: 'cross-site' }],
    ['no token', { token: undefined }],
    ['another token', { token: 'b'.repeat(32) }],
    ['part of the token', { token: 'a'.repeat(31) }],
  ])('%s is not', (_, knock) => {
    expect(refusal({ ...good, ...knock }, token)).toMatch(/^expected /)
  })
})

describe('a button says why it cannot be pressed', () => {
  const idle: Circumstances = {
    mode: 'play',
    isOver: false,
    scene: { kind: 'contender', contender: 'breakwater' },
    redis: 'private',
    database: 'private',
    isRedisAway: false,
    isSlow: false,
    isHolderAwaited: false,
  }
  const pressable = (change: Partial<Circumstances>): ActionId[] =>
    actionIds.filter((id) => whyNot(id, { ...idle, ...change }) === undefined)
  const all = [...actionIds]
  const but = (...ids: ActionId[]): ActionId[] => all.filter((id) => !ids.includes(id))

  test.each<[string, Partial<Circumstances>, ActionId[]]>([
    ['under load, all can', {}, all],
    ['a run that measures has no Stop', { mode: 'run' }, but('stop')],
    ['between two contenders, none but Stop', { scene: undefined }, ['stop']],
    [
      'while the lab breaks things itself, none but Stop',
      { scene: { kind: 'fault', contender: 'breakwater' } },
      ['stop'],
    ],
    [
      'without protection there is no holder',
      { scene: { kind: 'contender', contender: 'plain' } },
      but('kill-holder'),
    ],
    ['a Redis of the user is left alone', { redis: 'given' }, but('kill-redis', 'freeze-redis')],
    ['so is a database of the user', { database: 'given' }, but('slow-database')],
    [
      'without Redis nobody holds a lease',
      { redis: undefined },
      but('kill-redis', 'freeze-redis', 'kill-holder'),
    ],
    ['what is away cannot be killed', { isRedisAway: true }, but('kill-redis', 'freeze-redis')],
    ['what is slow is slow', { isSlow: true }, but('slow-database')],
    ['one holder at a time', { isHolderAwaited: true }, but('kill-holder')],
    ['after the end, none', { isOver: true }, []],
  ])('%s', (_, change, expected) => {
    expect(pressable(change)).toEqual(expected)
  })
})

describe('a browser is opened where somebody sits before a desktop', () => {
  const linux = { platform: 'linux', env: { DISPLAY: ':0' }, isTerminal: true } as const
  test.each([
    ['a Linux desktop', linux, ['xdg-open']],
    ['Wayland', { ...linux, env: { WAYLAND_DISPLAY: 'wayland-0' } }, ['xdg-open']],
    ['a browser of choice', { ...linux, env: { DISPLAY: ':0', BROWSER: 'firefox' } }, ['firefox']],
    ['macOS', { ...linux, platform: 'darwin', env: {} }, ['open']],
    ['Windows', { ...linux, platform: 'win32', env: {} }, ['cmd', '/c', 'start', '']],
    ['no desktop', { ...linux, env: {} }, undefined],
    ['no terminal', { ...linux, isTerminal: false }, undefined],
    ['CI', { ...linux, env: { DISPLAY: ':0', CI: 'true' } }, undefined],
    ['BROWSER=none', { ...linux, env: { DISPLAY: ':0', BROWSER: 'none' } }, undefined],
  ] as const)('%s', (_, surroundings, command) => {
    expect(browserCommand(surroundings)).toEqual(command)
  })

  test('and not for machines, or when told so', () => {
    expect(readFlags([])).toMatchObject({ live: true, open: true, port: 0 })
    expect(readFlags(['--json']).open).toBe(false)
    expect(readFlags(['--check']).open).toBe(false)
    expect(readFlags(['--no-open', '--port', '4000'])).toMatchObject({ open: false, port: 4000 })
    expect(readFlags(['--no-live']).live).toBe(false)
  })
})

test.each([
  [['--play', '--json'], /--play alone/],
  [['--play', '--no-live'], /buttons are on the page/],
  [['--port', 'x'], /--port to be a number/],
  [['--port', '70000'], /up to 65535/],
])('%j makes no sense, and says so', (args, message) => {
  expect(() => readFlags(args)).toThrow(message)
})

test('a run in which somebody pressed a button cannot be judged', () => {
  const verdict = judge({
    plan: planFor('quick'),
    runs: [],
    faults: [],
    disturbances: [{ action: 'kill-redis', during: 'breakwater', atMs: 800 }],
    shared: true,
    queryMs: 300,
  })
  expect(verdict.ok).toBe(false)
  expect(verdict.failures).toEqual([expect.stringMatching(/^cannot judge: .*kill-redis during/)])
})
