// The command `breakwater` on entries and tags, on one server and by a user with no more rights than
// a cache needs: what it prints, how it ends, and what the processes of the cache make of it.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeProgram } from '../../cli/src/program.ts'
import { permissionsOf } from '../../src/admin/index.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { until } from '../support/open-session.ts'
import { commandWith, runCommand } from '../support/run-command.ts'

let server: RedisServer
let client: Redis
let cache: Cache
let url = ''
let loads = 0

const run = commandWith(() => ['--redis', url, '--namespace', 'shop'])

beforeAll(async () => {
  server = await startRedisServer()
  url = server.url.replace('//', '//app:p%40ss%3Aword@')
  const rules = permissionsOf('shop').rules.split(' ')
  await server.ask('ACL', 'SETUSER', 'app', 'on', '>p@ss:word', ...rules)
  client = new Redis(server.url)
  cache = createCache({
    namespace: 'shop',
    ttl: '1h',
    staleWhileRevalidate: '1h',
    jitter: 0,
    earlyRefresh: false,
    store: redisStore({ client }),
  })
  product = products()
  await until(() => cache.health().status === 'ok')
})
afterAll(async () => {
  await cache.close()
  client.disconnect()
  await server.stop()
})

let product: ReturnType<typeof products>
const products = () =>
  cache.define({
    name: 'product',
    tags: ['products'],
    load: async (id: number | string) => {
      loads += 1
      return { id, at: new Date(0), many: new Map([[1, 2n]]), none: undefined }
    },
  })

describe('inspect', () => {
  it('shows an entry by its key, and by its definition and argument', async () => {
    await product.get(42)
    await cache.idle()
    const byKey = await run('inspect', product.key(42))
    expect(byKey).toMatchObject({ code: 0, stderr: '' })
    for (const text of [
      'r:product:#42  fresh',
      'products',
      'Map(1) { 1 => 2n }',
      'lease',
      'free',
    ]) {
      expect(byKey.stdout).toContain(text)
    }
    expect(byKey.stdout).not.toContain('\u001b')

    const byArg = await run('inspect', '--resource', 'product', '--arg', '42', '--json')
    expect(byArg.code).toBe(0)
    expect(byArg.json()).toMatchObject({
      key: 'r:product:#42',
      state: 'fresh',
      lease: null,
      holder: null,
      lookedAt: ['r:product:#42'],
      frame: {
        tags: ['products'],
        changedBy: null,
        value: {
          type: 'value',
          value: {
            id: 42,
            at: { $date: '1970-01-01T00:00:00.000Z' },
            many: { $map: [[1, { $bigint: '2' }]] },
            none: { $undefined: true },
          },
        },
      },
    })
  })

  it('names who holds a lease, and ends with 1 where nothing is', async () => {
    let end!: () => void
    const held = cache.getOrLoad('held', () => new Promise<number>((done) => (end = () => done(1))))
    await expect.poll(() => client.exists('bw:shop:{k:held}:l')).toBe(1)
    const one = await run('inspect', 'held')
    end()
    await held
    expect(one.code).toBe(0)
    expect(one.stdout).toContain('k:held  missing')
    expect(one.stdout).toContain(`(process ${process.pid} on `)

    const none = await run('inspect', 'r:product:nothing', '--json')
    expect(none.code).toBe(1)
    expect(none.json()).toMatchObject({
      state: 'missing',
      frame: null,
      lookedAt: ['r:product:nothing', 'k:r:product:nothing'],
    })
    expect(none.stderr).toContain(
      'no entry: looked for "r:product:nothing" and "k:r:product:nothing"',
    )
  })

  it('what keys and values contain moves no cursor, and can be left out', async () => {
    const evil = 'a\u001b[2J\u009b\nb'
    await cache.set(evil, evil)
    const shown = await run('inspect', evil)
    expect(shown.code).toBe(0)
    // eslint-disable-next-line no-control-regex -- these are what is meant
    expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    await cache.set('secret', 'hunter2')
    const hidden = await run('inspect', 'secret', '--no-value')
    expect(hidden.stdout).not.toContain('hunter2')
  })
})

describe('changes', () => {
  it('invalidate reaches the memory of a process, by any way to name an entry', async () => {
    await product.get(1)
    await product.get('a b')
    await cache.getOrLoad('one-off', async () => 1)
    await cache.idle()
    const before = loads
    const named = await run('invalidate', product.key(1), product.key('a b'), 'one-off')
    expect(named).toMatchObject({ code: 0, stderr: '' })
    expect(named.stdout).toBe(
      'invalidated r:product:#1\ninvalidated r:product:a b\ninvalidated k:one-off\n',
    )
    await expect.poll(async () => (await cache.peek('one-off')).state).toBe('missing')
    await product.get(1)
    await product.get('a b')
    expect(loads).toBe(before + 2)
    await cache.idle()
    await run('invalidate', '--resource', 'product', '--arg', '1', '--settle', '50ms')
    await expect.poll(async () => (await product.peek(1)).state).toBe('missing')
  })

  it('expire leaves a stale value', async () => {
    await product.get(2)
    await cache.idle()
    const done = await run('expire', product.key(2), '--json')
    expect(done.json()).toEqual({
      done: 'expired',
      keys: ['r:product:#2', 'k:r:product:#2'],
    })
    await expect.poll(async () => (await product.peek(2)).state).toBe('stale')
  })

  it('tags are invalidated, expired and listed', async () => {
    await product.get(3)
    await cache.idle()
    expect(await run('tags', 'expire', 'products')).toMatchObject({ code: 0 })
    await expect.poll(async () => (await product.peek(3)).state).toBe('stale')
    expect(await run('tags', 'invalidate', 'products', 'none')).toMatchObject({ code: 0 })
    await expect.poll(async () => (await product.peek(3)).state).toBe('missing')
    const listed = await run('tags', '--json', '--limit', '2')
    expect(listed.json().newest).toMatchObject([{ tag: 'products' }, { tag: 'none' }])
    const text = await run('tags')
    expect(text.stdout).toMatch(/tag "products" +invalidated +[\d.]+ m?s ago/)
  })

  it('clear asks first, and without a terminal needs --yes', async () => {
    await product.get(4)
    await cache.getOrLoad('kept', async () => 1)
    await cache.idle()
    const asked = await run('clear', '--resource', 'product')
    expect(asked).toMatchObject({ code: 2, stdout: '' })
    expect(asked.stderr).toContain('expected --yes')
    expect((await product.peek(4)).state).toBe('fresh')

    expect(await run('clear', '--resource', 'product', '--yes')).toMatchObject({ code: 0 })
    await expect.poll(async () => (await product.peek(4)).state).toBe('missing')
    expect((await cache.peek('kept')).state).toBe('fresh')
    expect(await run('clear', '--expire', '-y')).toMatchObject({ code: 0 })
    await expect.poll(async () => (await cache.peek('kept')).state).toBe('stale')
  })

  it('what Redis refuses ends with 1 and its own sentence', async () => {
    await server.ask(
      'ACL',
      'SETUSER',
      'reader',
      'on',
      '>x',
      '~*',
      '&*',
      '+@read',
      '+ping',
      '+time',
      '+info',
    )
    const reader = server.url.replace('//', '//reader:x@')
    const refused = await runCommand(['invalidate', 'k', '--redis', reader, '-n', 'shop'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/NOPERM|permissions/)
    // To look is to read, and no more.
    expect(await runCommand(['inspect', 'kept', '--redis', reader, '-n', 'shop'])).toMatchObject({
      code: 0,
    })
  })
})

describe('the command line', () => {
  it('refuses what is wrong with 2 and a sentence, and what is not there with 3', async () => {
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['inspect', 'k', '-n', 'shop'], 2, /--redis: expected a URL/],
      [['inspect', 'k', '--redis', url], 2, /--namespace: expected the name/],
      [['inspect', '-n', 'shop', '--redis', url], 2, /KEY: expected a key/],
      [['inspect', 'k', '-n', 'a b', '--redis', url], 2, /--namespace: expected/],
      [['inspect', 'k', '--redis', 'http://x', '-n', 'shop'], 2, /--redis: expected a URL/],
      [
        ['inspect', '--resource', 'r', '--arg', '{', '-n', 'shop', '--redis', url],
        2,
        /--arg: expected JSON/,
      ],
      [['nothing'], 2, /unknown command/],
      [['inspect', 'k', '-n', 'shop', '--redis', 'redis://localhost:1'], 3, /ECONNREFUSED/],
      [
        ['inspect', 'k', '-n', 'shop', '--redis', server.url.replace('//', '//app:no@')],
        3,
        /WRONGPASS/,
      ],
    ]
    await Promise.all(
      cases.map(async ([args, code, sentence]) => {
        const ran = await runCommand(args)
        expect(ran.stderr).toMatch(sentence)
        expect(ran).toMatchObject({ code, stdout: '' })
        expect(ran.stderr).not.toMatch(/ at .*\.js:\d|p%40ss|p@ss/)
      }),
    )
  })

  it('takes server and namespace from the environment, and gives up a server that says nothing', async () => {
    const env = { REDIS_URL: url, BREAKWATER_NAMESPACE: 'shop' }
    expect(await runCommand(['inspect', 'kept'], { env })).toMatchObject({ code: 0 })
    server.freeze()
    try {
      const frozen = await runCommand(['inspect', 'kept', '--timeout', '300'], { env })
      expect(frozen.code).toBe(3)
      expect(frozen.stderr).toContain('no answer within 300 ms')
    } finally {
      server.thaw()
    }
  })

  it('has help with examples for every command, and completes them in three shells', async () => {
    const program = makeProgram('1.2.3')
    const names = program.commands.map((command) => command.name())
    expect(names).toEqual(
      expect.arrayContaining(['inspect', 'invalidate', 'expire', 'tags', 'clear', 'top', 'doctor']),
    )
    for (const command of program.commands) {
      let help = ''
      command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
      expect(help).toContain('Examples:\n')
      expect(help).toContain('--redis <url>')
    }
    const [help, wrong, ...scripts] = await Promise.all(
      ['--help', 'completion tcsh', 'completion bash', 'completion zsh', 'completion fish'].map(
        (line) => runCommand(line.split(' ')),
      ),
    )
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Exit codes:') })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('bash, zsh or fish') })
    for (const { code, stdout } of scripts) {
      expect(code).toBe(0)
      for (const name of names) expect(stdout).toContain(name)
    }
  })
})
