// Options from the command line, a file and the environment: which comes first, and what is refused in
// a sentence that names where it stood.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { proxySettings, type ProxySettings } from '../../cli/src/proxy/settings.ts'
import { fromCommandLine, fromEnvironment, fromFile } from '../../cli/src/proxy/sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'breakwater-proxy-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const origin = 'http://127.0.0.1:3000'

function typed(given: Record<string, string | boolean>): ProxySettings {
  return proxySettings([fromCommandLine({ origin, ...given })])
}

it('the command line comes before the file, the file before the environment, that before defaults', async () => {
  const config = file(
    'a.json',
    JSON.stringify({
      origin,
      ttl: '5m',
      maxBody: '1MiB',
      statuses: [200, 404],
      originInsecure: true,
    }),
  )
  const settings = proxySettings([
    fromCommandLine({ ttl: '1h' }),
    await fromFile(config),
    fromEnvironment({
      BREAKWATER_PROXY_TTL: '9s',
      BREAKWATER_PROXY_MAX_BODY: '9MiB',
      BREAKWATER_PROXY_STALE_IF_ERROR: '9m',
      BREAKWATER_PROXY_PURGE_TOKEN: 'a-long-enough-token',
      REDIS_URL: 'redis://r',
      BREAKWATER_NAMESPACE: 'shop',
      OTHER: 'x',
    }),
  ])
  expect(settings).toMatchObject({
    port: 8080,
    maxBodyBytes: 2 ** 20,
    namespace: 'shop',
    origin: { insecure: true, timeoutMs: 60_000 },
    redis: { redis: 'redis://r', timeoutMs: 5_000 },
    cache: {
      ttlMs: 3_600_000,
      staleIfErrorMs: 540_000,
      statuses: [200, 404],
      purgeToken: 'a-long-enough-token',
    },
  })
})

it('a file may be a module', async () => {
  const config = file('a.mjs', `export default { origin: '${origin}', ignoreQuery: ['a', 'b_*'] }`)
  const settings = proxySettings([await fromFile(config)])
  expect(settings.cache.ignoreQuery).toEqual(['a', 'b_*'])
})

it.each([
  ['{ "orgin": "x" }', /^orgin in .*: expected the name of an option; there are origin, /],
  [
    '{ "max-body": "1KiB" }',
    /^max-body in .*: expected the name of an option; did you mean maxBody\?$/,
  ],
  ['{ "port": [1] }', /^port in .*: expected text or a number, got \[1\]$/],
  ['{ "originInsecure": "yes" }', /^originInsecure in .*: expected true or false, got "yes"$/],
  ['[]', /^--config: expected an object of options in /],
  ['{', /^--config: expected a file that can be read, got /],
])('the file %s is refused', async (text, sentence) => {
  await expect(fromFile(file('bad.json', text))).rejects.toThrow(sentence)
})

it('a file that is not there is refused', async () => {
  await expect(fromFile(join(folder, 'none.json'))).rejects.toThrow(/^--config: .*ENOENT/)
})

it('a variable that is no option is refused', () => {
  expect(() => fromEnvironment({ BREAKWATER_PROXY_MAXBODY: '1' })).toThrow(
    'BREAKWATER_PROXY_MAXBODY: expected the name of an option; did you mean BREAKWATER_PROXY_MAX_BODY?',
  )
})

it.each<[Record<string, string>, string]>([
  [{ origin: 'localhost:3000' }, '--origin: expected http://host[:port] or https://…, got'],
  [{ origin: 'http://h/app' }, '--origin: expected a URL without a path'],
  [{ origin: 'http://u:secret@h/' }, '--origin: expected a URL without user and password'],
  [{ port: '65536' }, '--port: expected a whole number from 0 to 65535, got "65536"'],
  [{ ttl: '60' }, '--ttl: expected a duration such as'],
  [{ grace: '-1s' }, '--grace: expected a duration such as'],
  [{ connectTimeout: '0' }, '--connect-timeout: expected a duration such as'],
  [{ maxBody: '1MB' }, '--max-body: expected a size of at least 0 bytes'],
  [{ statuses: '200,500' }, '--statuses: expected a whole number from 200 to 499, got "500"'],
  [{ trustProxy: '10.0.0.0/33' }, '--trust-proxy: expected addresses such as'],
  [{ trustProxy: 'proxy.local' }, '--trust-proxy: expected addresses such as'],
  [{ healthPath: 'healthz' }, '--health-path: expected a path that begins with /'],
  [{ namespace: 'a b' }, '--namespace: expected 1 to 64 of'],
  [{ originCa: 'none.pem' }, '--origin-ca: expected a file that can be read'],
  [{ purgeToken: 'secret' }, '--purge-token: expected a secret of at least 16 characters, got 6'],
  [{ workers: '0' }, '--workers: expected a whole number from 1 to 256'],
])('%j is refused', (given, sentence) => {
  expect(() => typed(given)).toThrow(sentence)
  expect(() => typed(given)).not.toThrow(/secret(?! of)/)
})

it('without an origin there is nothing to do', () => {
  expect(() => proxySettings([])).toThrow('--origin: expected where answers come from')
})

it('proxies of two origins do not share a namespace by chance', () => {
  expect(typed({}).namespace).toBe('proxy-127.0.0.1-3000')
  expect(typed({ origin: 'https://site.test' }).namespace).toBe('proxy-site.test')
  const long = typed({ origin: `http://${'a'.repeat(63)}.test` }).namespace
  expect(long).toMatch(/^proxy-[0-9a-f]{16}$/)
  expect(typed({ origin: 'http://[::1]:1' }).namespace).toMatch(/^proxy-[0-9a-f]{16}$/)
})
