/** Whether there is something at this path that this user may run. */
import { accessSync, constants } from 'node:fs'

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
