#!/usr/bin/env node
/** The command `breakwater`: runs one subcommand, and says in one sentence what went wrong. */
import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'
import { exitCodes, Failure } from './ending.ts'
import { plainLines } from './print/paint.ts'
import { makeProgram } from './program.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }

// Whoever reads may have read enough: `breakwater tags | head -1`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(exitCodes.ok)
  })
}

try {
  await makeProgram(version).parseAsync()
} catch (error) {
  process.exitCode = endingOf(error)
}

function endingOf(error: unknown): number {
  // It has said what there is to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const text = error instanceof Error ? error.message : String(error)
  say(`breakwater: ${text}`)
  if (process.argv.includes('--debug') && error instanceof Error) {
    say(error.stack ?? '')
    if (error.cause instanceof Error) say(error.cause.stack ?? '')
  }
  return error instanceof Failure ? exitCodes[error.ending] : endingOfOthers(error)
}

/** What a server answers, or a value is, may be in it. */
function say(text: string): void {
  process.stderr.write(`${plainLines(text, { coloured: false })}\n`)
}

/** Of the library: what an option or a key has that it must not have, else that it was not taken. */
function endingOfOthers(error: unknown): number {
  const { code } = error as { code?: unknown }
  return code === 'INVALID_KEY' || code === 'INVALID_OPTION' ? exitCodes.usage : exitCodes.found
}
