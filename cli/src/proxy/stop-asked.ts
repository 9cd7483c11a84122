/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. A worker is asked by
 * word besides: a terminal and systemd signal each process of a group themselves, and the first
 * process's own signal would be the second.
 */
export function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    const hear = (): void => {
      for (const signal of signals) process.off(signal, hear)
      process.off('message', read)
      resolve()
    }
    const read = (message: unknown): void => {
      if (message === stopWord) hear()
    }
    for (const signal of signals) process.on(signal, hear)
    if (process.channel !== undefined) process.on('message', read)
  })
}

export const stopWord = 'breakwater:stop'

const signals = ['SIGTERM', 'SIGINT'] as const
