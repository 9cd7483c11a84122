// The command as a process: it starts, tells how it is, stops in order, with one worker or several.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedisServer } from '@breakwater/rig'
import { afterEach, expect, it } from 'vitest'
import { proxyProcess, type ProxyProcess } from '../support/proxy-process.ts'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'
import { runCommand } from '../support/run-command.ts'

const rig = proxyRig()
afterEach(() => rig.end())

async function start(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<ProxyProcess> {
  const started = await proxyProcess(args, env)
  rig.also(() => started.end('SIGKILL'))
  return started
}

const page = (path: string): string => get(path, 'Connection: close')

it('health and metrics are on their own port alone, unless a path is asked for', async () => {
  const { url } = await rig.origin((req, res) => {
    res.statusCode = req.url === '/' ? 200 : 404
    res.end()
  })
  const { port, adminPort } = await start(['--origin', url, '--health-path', '/-/up'])
  expect((await ask(port, page('/'))).status).toBe(200)
  const health = await ask(adminPort, page('/healthz'))
  expect(health.status).toBe(200)
  expect(JSON.parse(health.body.toString())).toMatchObject({
    status: 'ok',
    cache: { status: 'ok' },
  })
  const metrics = (await ask(adminPort, page('/metrics'))).body.toString()
  expect(metrics).toMatch(/^proxy_requests_total\{status="200",cache="[a-z-]+"\} 1$/m)
  expect(metrics).toMatch(/^proxy_origin_requests_total 1$/m)
  expect(metrics).toMatch(/^cache_/m)
  expect((await ask(adminPort, page('/else'))).status).toBe(404)
  expect((await ask(port, page('/metrics'))).status).toBe(404)
  expect((await ask(port, page('/healthz'))).status).toBe(404)
  expect((await ask(port, page('/-/up'))).status).toBe(200)
})

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: health says so, no connection is taken, what runs ends whole, and then the process',
  async (signal) => {
    let goOn = (): void => {}
    const { url } = await rig.origin((_, res) => {
      res.write('first, ')
      goOn = () => res.end('last')
    })
    const { port, adminPort, end, stderr } = await start(['--origin', url, '--health-path', '/up'])
    const running = connection(port)
    running.send(get('/slow'))
    await expect.poll(() => running.rest().toString()).toContain('first')
    const resting = connection(port)
    resting.send(get('/up'))
    expect((await resting.answer()).status).toBe(200)

    const code = end(signal)
    await expect.poll(async () => (await ask(adminPort, page('/healthz'))).status).toBe(503)
    // A connection at rest is closed, and no other one is taken.
    await resting.ended
    await expect(ask(port, page('/'))).rejects.toThrow('without an answer')
    goOn()
    expect(await running.answer()).toMatchObject({ status: 200, whole: true })
    await running.ended
    expect(await code).toBe(0)
    expect(stderr()).toContain('breakwater proxy: stopping\n')
  },
)

it('what has not ended within --grace is broken off', async () => {
  const { url } = await rig.origin((_, res) => void res.write('first'))
  const { port, end } = await start(['--origin', url, '--grace', '100ms'])
  const running = connection(port)
  running.send(get('/endless'))
  await expect.poll(() => running.rest().toString()).toContain('first')
  expect(await end()).toBe(0)
  expect(await running.answer()).toMatchObject({ whole: false })
})

it('the access log has a line per request, without query and credentials', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-proxy-'))
  rig.also(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'access.log')
  const { url } = await rig.origin((_, res) => void res.end('hello'))
  const { port, end } = await start(['--origin', url, '--access-log', log])
  await ask(port, page('/a?token=secret'))
  await ask(
    port,
    get('/b', 'Authorization: Bearer secret', 'Cookie: s=secret', 'Connection: close'),
  )
  await ask(port, 'GET http://user:secret@site.test/c?secret HTTP/1.1\r\nHost: site.test\r\n\r\n')
  expect(await end()).toBe(0)
  const text = readFileSync(log, 'utf8')
  expect(text).not.toContain('secret')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(3)
  const known = { client: '127.0.0.1', method: 'GET', host: 'site.test', whole: true }
  expect(lines[0]).toMatchObject({ ...known, path: '/a', status: 200 })
  expect(lines[0].bytes).toBeGreaterThan(5)
  expect(lines.map(({ path, status }) => [path, status])).toEqual([
    ['/a', 200],
    ['/b', 200],
    ['/c', 400],
  ])
})

it('called in a wrong way it says so in a sentence, and exits with 2', async () => {
  const of = async (...args: readonly string[]) => {
    const { code, stderr } = await runCommand(['proxy', ...args])
    return [code, stderr.split('\n')[0]]
  }
  const missing =
    '--origin: expected where answers come from, such as http://127.0.0.1:3000, got none'
  expect(await of()).toEqual([2, `breakwater: ${missing}`])
  expect(await of('--orign', 'x')).toEqual([2, expect.stringContaining("unknown option '--orign'")])
})

it('a file of options is read, and --timeout of the command line alone comes before it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-proxy-'))
  rig.also(() => rmSync(folder, { recursive: true }))
  const { url } = await rig.origin((_, res) => void res.end('hello'))
  const config = join(folder, 'proxy.json')
  writeFileSync(config, JSON.stringify({ origin: url, healthPath: '/up', timeout: 100 }))
  const { port } = await start(['--config', config])
  expect((await ask(port, page('/up'))).status).toBe(200)
})

it('a Redis that is away at the start is waited for, and the site is there', async () => {
  const server = await startRedisServer()
  rig.also(() => server.stop())
  await server.kill()
  const { url } = await rig.origin((_, res) => void res.end('hello'))
  const proxy = await start(['--origin', url, '--redis', server.url, '-n', 'site'])
  expect(proxy.stderr()).toMatch(/127\.0\.0\.1:\d+: .*; until it answers, memory alone\n/)
  expect((await ask(proxy.port, page('/'))).status).toBe(200)
  await server.restart()
  await expect
    .poll(async () => (await ask(proxy.adminPort, page('/healthz'))).body.toString(), {
      timeout: 10_000,
    })
    .toContain('"store":"up"')
  expect(await proxy.end()).toBe(0)
})

it('several workers share a port, add up their metrics, replace one that dies, and stop as one', async () => {
  const { url } = await rig.origin((_, res) => void res.end('hello'))
  const { port, adminPort, end, stderr } = await start(['--origin', url, '--workers', '2'])
  expect(stderr()).toContain('; 2 workers\n')
  for (let n = 0; n < 10; n++) expect((await ask(port, page(`/${n}`))).status).toBe(200)
  const metrics = async (): Promise<string> =>
    (await ask(adminPort, page('/metrics'))).body.toString()
  await expect.poll(metrics).toMatch(/^proxy_origin_requests_total 10$/m)
  const health = async () => JSON.parse((await ask(adminPort, page('/healthz'))).body.toString())
  const { pids } = await health()
  expect(pids).toHaveLength(2)
  process.kill(pids[0], 'SIGKILL')
  await expect.poll(async () => (await health()).pids).toEqual([pids[1]])
  expect((await ask(port, page('/'))).status).toBe(200)
  await expect.poll(async () => (await health()).pids).toHaveLength(2)
  expect(await end()).toBe(0)
  expect(stderr()).toContain('a worker has ended')
})

it('T153 two workers on one Redis ask once for a page that two hundred want', async () => {
  const server = await startRedisServer()
  rig.also(() => server.stop())
  const { url, seen } = await rig.origin((_, res) => void setTimeout(() => res.end('page'), 300))
  const args = ['--origin', url, '--redis', server.url, '-n', 'site', '--store-timeout', '10s']
  const { port } = await start([...args, '--workers', '2'])
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(port, page('/page'))))
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 200, whole: true })
    expect(answer.body.toString()).toBe('page')
  }
  expect(seen).toHaveLength(1)
})

it('what makes it fail at its start leaves nothing behind that keeps it', async () => {
  const server = await startRedisServer()
  rig.also(() => server.stop())
  const to = ['--origin', 'http://127.0.0.1:1', '--redis', server.url]
  await expect(start([...to, '--access-log', '/no/such/folder/log'])).rejects.toThrow(
    /^2: breakwater: --access-log: expected a file that can be written, got ENOENT/,
  )
  await expect(start([...to, '--cache-status', 'ä'])).rejects.toThrow(/^2: breakwater: /)
})

it('workers that cannot start end the whole, with the reason', async () => {
  const taken = await rig.origin((_, res) => res.end())
  const args = ['--origin', taken.url, '--port', String(taken.port), '--workers', '2']
  await expect(start(args)).rejects.toThrow(/cannot listen on/)
})
