// The results that the repository keeps: one JSON file per benchmark, with what it was measured
// with. Four digits of each figure are more than any machine can repeat.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Report } from '../measure/report.ts'
import { describeMachine, packageVersions, type Machine } from './machine.ts'

export interface Kept {
  readonly machine: Machine
  readonly packages: Readonly<Record<string, string>>
  readonly report: Report
}

const folder = new URL('../../results/', import.meta.url)
const fileOf = (name: string): URL => new URL(`${name}.json`, folder)

/** What a run's reports are kept with: taken before anything runs, since running is a load. */
export async function describeRun(): Promise<Omit<Kept, 'report'>> {
  return { machine: await describeMachine(), packages: packageVersions() }
}

export function keep(name: string, kept: Kept): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(name), `${toJson(kept)}\n`)
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, it: unknown) => round(it), 2)
}

export function readKept(name: string): Kept | undefined {
  const file = fileOf(name)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : undefined
}

function round(value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(4))
    : value
}
