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

/** Two caches may share triggers or a publication. Each needs what changed, and so a slot of its own. */
export function slotName(name: string, namespace: string): string {
  return `${objectName(name)}_${digestOf(namespace).toString('hex', 0, 4)}`
}

/** Both numbers of the advisory lock that who captures for this cache has. */
export function lockKeys(name: string, namespace: string): readonly [number, number] {
  return [0x6277_6172, digestOf(`${name} ${namespace}`).readInt32BE(0) & 0x7fff_ffff]
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
