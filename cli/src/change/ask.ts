/** Before what cannot be taken back: somebody must say yes, on a terminal or by `--yes`. */
import { createInterface } from 'node:readline/promises'
import { usage } from '../ending.ts'

export async function askFirst(question: string, { yes }: { yes: boolean }): Promise<boolean> {
  if (yes) return true
  const { stdin, stderr } = process
  if (stdin.isTTY !== true) {
    throw usage('expected --yes, since there is no terminal on which to ask, got none')
  }
  const lines = createInterface({ input: stdin, output: stderr })
  // Ctrl-C and Ctrl-D are no.
  const gone = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), gone])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
