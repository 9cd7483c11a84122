/**
 * New memory, taken into use step by step. The first touch of each page costs the system far more
 * than what is then written there (for ten megabytes: 3 ms in some places, 30 ms in others), and
 * who only copies something big holds the event loop for just that.
 */

const pageLength = 4_096
const stepLength = 512 * 1024

/** Not from a pool. `pause` is called between steps; a promise is waited for. */
export async function memoryInSteps(
  length: number,
  pause: () => Promise<void> | undefined,
): Promise<Buffer> {
  const memory = Buffer.allocUnsafeSlow(length)
  for (let from = 0; from < length; from += stepLength) {
    const end = Math.min(from + stepLength, length)
    for (let at = from; at < end; at += pageLength) memory[at] = 0
    const due = pause()
    if (due !== undefined) await due
  }
  return memory
}
