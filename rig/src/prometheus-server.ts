// A private Prometheus on a free loopback port, which ends with this process and leaves nothing. It
// scrapes once per second, and evaluates its rules as often, so that a test need not wait for minutes.

import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from './directory.ts'
import { findPrometheus, needed } from './prometheus-program.ts'
import { endProcess, startProgram, type Running } from './server-process.ts'

export interface PrometheusOptions {
  /** `127.0.0.1:9100` and so on; scraped at `/metrics`. */
  readonly targets?: readonly string[]
  /** Files of `file_sd_configs`, with `*` in their last part. */
  readonly targetFiles?: readonly string[]
  /** Paths of files. */
  readonly rules?: readonly string[]
}

export interface PrometheusServer {
  readonly url: string
  /** The samples of an instant query, now. Rejects with what is wrong with the expression. */
  query(expression: string): Promise<readonly Sample[]>
  /** `data` of `/api/v1/PATH`. */
  api<T>(path: string): Promise<T>
  stop(): Promise<void>
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export async function startPrometheus(options: PrometheusOptions): Promise<PrometheusServer> {
  const program = join(needed(findPrometheus()), 'prometheus')
  const directory = makeDirectory()
  const config = join(directory.path, 'prometheus.yml')
  // YAML has JSON in it.
  writeFileSync(config, JSON.stringify(configOf(options)))
  const launch = (port: number): Promise<Running> =>
    startProgram({
      program,
      args: [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory.path, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      ready: /Server is ready to receive web requests/,
      failed: /level=error/,
    })
  const { port, running } = await onFreePort(launch)
  const url = `http://127.0.0.1:${port}`

  const api = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}`)
    const { status, data, error } = (await answer.json()) as Answer<T>
    if (status !== 'success') throw new Error(`${error}, asked for ${path}`)
    return data
  }
  return {
    url,
    api,
    async query(expression) {
      const { result } = await api<Vector>(`query?query=${encodeURIComponent(expression)}`)
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    async stop() {
      await endProcess(running)
      await directory.remove()
    },
  }
}

interface Answer<T> {
  readonly status: 'success' | 'error'
  readonly data: T
  readonly error?: string
}

interface Vector {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly value: readonly [number, string]
  }[]
}

function configOf({ targets = [], targetFiles = [], rules = [] }: PrometheusOptions): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [
      {
        job_name: 'breakwater',
        static_configs: [{ targets }],
        file_sd_configs: targetFiles.length === 0 ? [] : [{ files: targetFiles }],
      },
    ],
  }
}

/** Below the ephemeral range; another one where somebody has it. */
async function onFreePort(
  launch: (port: number) => Promise<Running>,
): Promise<{ port: number; running: Running }> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(15_000, 32_000)
    try {
      return { port, running: await launch(port) }
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}
