/** The terminal while `top` runs: a screen of its own, drawn in place, given back however it ends. */

export interface Screen {
  readonly rows: number
  readonly columns: number
  draw(lines: readonly string[]): void
  close(): void
}

const enter = '\u001b[?1049h\u001b[?25l'
const leave = '\u001b[?25h\u001b[?1049l'
const home = '\u001b[H'
const restOfLine = '\u001b[K'
const restOfScreen = '\u001b[J'

/** Ctrl-C, Ctrl-D and Escape are keys, and no signals, in this mode. */
const quits: ReadonlySet<string> = new Set(['q', 'Q', '\u0003', '\u0004', '\u001b'])

/** `onQuit`: q, Ctrl-C, or a signal. */
export function openScreen(onQuit: () => void): Screen {
  const { stdin, stdout } = process
  const isRaw = stdin.isTTY === true
  const pressed = (keys: Buffer): void => {
    if (quits.has(keys.toString())) onQuit()
  }
  if (isRaw) {
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', pressed)
  }
  const restore = (): void => void stdout.write(leave)
  process.once('exit', restore)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onQuit)
  stdout.write(enter)
  return {
    get rows() {
      return stdout.rows || 24
    },
    get columns() {
      return stdout.columns || 80
    },
    draw: (lines) => {
      const shown = lines.slice(0, (stdout.rows || 24) - 1)
      stdout.write(home + shown.map((line) => `${line}${restOfLine}\n`).join('') + restOfScreen)
    },
    close: () => {
      process.removeListener('exit', restore)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.removeListener(signal, onQuit)
      }
      if (isRaw) {
        stdin.off('data', pressed)
        stdin.setRawMode(false)
        stdin.pause()
      }
      restore()
    },
  }
}
