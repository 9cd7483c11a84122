/** Turns of the event loop, for work that would hold it for long. By the real timers, whatever the clock. */

const { setImmediate: soon, performance: real } = globalThis

/** How long work goes on before the event loop gets its turn. */
const sliceMs = 4

/** Everything that waits goes first. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void soon(resolve))
}

/** To be called between small pieces of one work; gives a promise when a turn is due. */
export function slices(): () => Promise<void> | undefined {
  let until = real.now() + sliceMs
  return () => {
    if (real.now() < until) return undefined
    return turn().then(() => {
      until = real.now() + sliceMs
    })
  }
}
