// Runs a Node program as the last step of a command: its output and exit status are ours, and a
// signal to us ends it. A Ctrl-C in a terminal reaches both processes by itself; then we only wait.
// A child that ignores the signal is killed after ten seconds.

import { spawn } from 'node:child_process'

const graceMs = 10_000

/**
 * @param {string[]} command the script and its arguments
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 */
export function runChild(command, { cwd, env }) {
  const child = spawn(process.execPath, command, { cwd, env, stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
      setTimeout(() => child.kill('SIGKILL'), graceMs).unref()
    })
  }
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.exit(signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1)
  })
}
