/** What the objects in the database are called: channel, slot, publication, triggers, and the lock. */
import { createHash } from 'node:crypto'
import { invalidOption } from '../core/errors.ts'

/** So that all names made of it are names of PostgreSQL, which cuts off what is over 63 bytes. */
const pattern = /^[a-z][a-z0-9_]{0,31}$/

export function checkedName(name: unknown, option: string): string {
  if (typeof name === 'string' && pattern.test(name)) return name
  throw invalidOption(option, '1 to 32 characters of a-z 0-9 _, a letter first', name)
}

export function objectName(name: string): string {
  return `breakwater_${name}`
}

/** Both numbers of the advisory lock that who captures has. */
export function lockKeys(name: string): readonly [number, number] {
  return [0x6277_6172, createHash('sha256').update(name).digest().readInt32BE(0) & 0x7fff_ffff]
}
