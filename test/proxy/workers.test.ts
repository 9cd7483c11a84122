// Several workers, and Redis: there, away at the start, or none of what was asked for.

import { startRedisServer } from '@breakwater/rig'
import { afterEach, expect, it } from 'vitest'
import { proxyProcess, type ProxyProcess } from '../support/proxy-process.ts'
import { proxyRig } from '../support/proxy-rig.ts'
import { ask, get } from '../support/raw-http.ts'

const rig = proxyRig()
afterEach(() => rig.end())

async function start(args: readonly string[]): Promise<ProxyProcess> {
  const started = await proxyProcess(args)
  rig.also(() => started.end('SIGKILL'))
  return started
}

const page = (path: string): string => get(path, 'Connection: close')

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
