// The command as a process: it starts, tells how it is, stops in order.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { proxyProcess, type ProxyProcess } from '../support/proxy-process.ts'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, connection, get } from '../support/raw-http.ts'
import { runCommand } from '../support/run-command.ts'

const rig = proxyRig()
afterEach(() => rig.end())

async function start(args: readonly string[]): Promise<ProxyProcess> {
  const started = await proxyProcess(args)
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
