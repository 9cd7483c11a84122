// The proxies themselves, each as its own processes on a free port, with all that they have against
// many requests for one URL switched on.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startRedisServer } from '@breakwater/rig'
import { Lane } from './lane.ts'

export interface Running {
  readonly port: number
  end(): Promise<void>
}

export interface Rival {
  readonly name: string
  start(origin: string): Promise<Running>
}

/** Undefined: it is not installed. */
export function nginxVersion(): string | undefined {
  const { stderr, status } = spawnSync('nginx', ['-v'], { encoding: 'utf8' })
  return status === 0 ? /nginx\/(\S+)/.exec(stderr)?.[1] : undefined
}

export const rivals: readonly Rival[] = [
  { name: 'nginx, 1 worker', start: (origin) => startNginx(origin, 1) },
  { name: 'nginx, 2 workers', start: (origin) => startNginx(origin, 2) },
  { name: 'breakwater proxy', start: (origin) => startOurs(origin, []) },
  { name: 'breakwater proxy, 2 workers and Redis', start: startWithRedis },
]

async function startNginx(origin: string, workers: number): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'breakwater-nginx-'))
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, nginxConf({ folder, port, workers, origin: new URL(origin).host }))
  const child = spawn('nginx', ['-c', file, '-p', folder, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await listening(child, port)
  return {
    port,
    end: async () => {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface NginxPlan {
  readonly folder: string
  readonly port: number
  readonly workers: number
  readonly origin: string
}

function nginxConf({ folder, port, workers, origin }: NginxPlan): string {
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes ${workers};
pid ${folder}/pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/temp;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:10m use_temp_path=off;
  upstream origin { server ${origin}; keepalive 64; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    sendfile on;
    tcp_nopush on;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache pages;
      proxy_cache_lock on;
      proxy_cache_lock_timeout 30s;
      proxy_cache_use_stale updating error timeout;
      proxy_cache_background_update on;
    }
  }
}
`
}

async function startWithRedis(origin: string): Promise<Running> {
  const redis = await startRedisServer()
  const ours = await startOurs(origin, ['--workers', '2', '--redis', redis.url, '-n', 'bench'])
  return {
    port: ours.port,
    end: async () => {
      await ours.end()
      await redis.stop()
    },
  }
}

const main = fileURLToPath(new URL('../../../cli/dist/main.js', import.meta.url))

async function startOurs(origin: string, more: readonly string[]): Promise<Running> {
  const port = await freePort()
  const at = ['--host', '127.0.0.1', '--port', String(port), '--admin-port', 'off']
  const args = ['proxy', '--origin', origin, ...at, '--grace', '0', ...more]
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  await listening(child, port)
  return { port, end: () => ended(child) }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  let said = ''
  let isOver = false
  child.stderr!.on('data', (text: Buffer) => (said += text.toString()))
  child.once('error', (error) => (said += error.message))
  child.once('close', () => (isOver = true))
  for (let tries = 0; tries < 200; tries += 1) {
    if (isOver) break
    const lane = await Lane.open(port).catch(() => undefined)
    lane?.close()
    if (lane !== undefined) return
    await setTimeout(100)
  }
  child.kill('SIGKILL')
  throw new Error(`it did not start: ${said}`)
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const over = once(child, 'close')
  child.kill('SIGTERM')
  const late = setTimeout(10_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))
  void late.catch(() => {})
  await over
}
