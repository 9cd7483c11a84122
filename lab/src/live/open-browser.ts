// Opens the page where there is a desktop with somebody in front of it, by the system's own command.
// That it cannot be opened is no trouble: the address has been printed.

import { spawn } from 'node:child_process'

export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}

/** The command that opens a browser; undefined: there is nobody to open one for. */
export function browserCommand({ platform, env, isTerminal }: Surroundings): string[] | undefined {
  const isSet = (name: string): boolean => (env[name] ?? '') !== ''
  const { BROWSER: browser } = env
  if (!isTerminal || isSet('CI') || browser === 'none') return undefined
  if (platform === 'darwin') return ['open']
  // The empty text is the title of the window, which `start` takes first.
  if (platform === 'win32') return ['cmd', '/c', 'start', '']
  if (!isSet('DISPLAY') && !isSet('WAYLAND_DISPLAY')) return undefined
  return browser !== undefined && /^[\w./+-]+$/.test(browser) ? [browser] : ['xdg-open']
}

export function openBrowser(url: string, surroundings: Surroundings): void {
  const [file, ...args] = browserCommand(surroundings) ?? []
  if (file === undefined) return
  try {
    const child = spawn(file, [...args, url], { detached: true, stdio: 'ignore' })
    child.on('error', () => undefined)
    child.unref()
  } catch {
    // as above
  }
}
