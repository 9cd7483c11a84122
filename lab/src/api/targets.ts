// Where a Prometheus finds the API processes, whose ports are new each time: BREAKWATER_LAB_TARGETS names a
// folder, and each process puts a file of itself there, in the form of `file_sd_configs`. They are
// killed and cannot take it away; whoever comes next does that.

import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function announce(port: number, labels: Readonly<Record<string, string>>): void {
  const folder = process.env['BREAKWATER_LAB_TARGETS'] ?? ''
  if (folder === '') return
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    const pid = /^api-(\d+)\.json$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true })
  }
  const targets = [{ targets: [`127.0.0.1:${port}`], labels }]
  // Whole at once: it is read as soon as it is there.
  const draft = join(folder, `.api-${process.pid}`)
  writeFileSync(draft, JSON.stringify(targets))
  renameSync(draft, join(folder, `api-${process.pid}.json`))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
