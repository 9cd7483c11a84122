// One live line while something runs, on stderr, since stdout belongs to the result. Where stderr is
// not a terminal, only the lines that stay are written.

export interface Progress {
  /** Replaces the live line. */
  live(text: string): void
  /** Ends the live line and leaves this one. */
  done(text: string): void
}

export function progressTo(stream: NodeJS.WriteStream): Progress {
  const width = (): number => Math.max(20, (stream.columns || 80) - 1)
  const clear = '\r\u001B[K'
  return {
    live(text) {
      if (stream.isTTY) stream.write(clear + text.slice(0, width()))
    },
    done(text) {
      stream.write(stream.isTTY ? `${clear}${text}\n` : `${text}\n`)
    },
  }
}
