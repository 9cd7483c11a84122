/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    const hear = (): void => {
      for (const signal of signals) process.off(signal, hear)
      resolve()
    }
    for (const signal of signals) process.on(signal, hear)
  })
}

const signals = ['SIGTERM', 'SIGINT'] as const
