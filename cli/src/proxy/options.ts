/** From the table of options to their names in each place, and to the command line. */
import { Option, type Command } from 'commander'
import { proxyOptions, type ProxyOption } from './option-table.ts'

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export function variableOf(name: string): string {
  return `BREAKWATER_PROXY${flagOf(name).slice(1).replaceAll('-', '_').toUpperCase()}`
}

export function addProxyOptions(command: Command): Command {
  let group = ''
  for (const option of proxyOptions as readonly ProxyOption[]) {
    if (option.group !== group) command.optionsGroup((group = option.group))
    const { name, value, about, preset } = option
    const flags = value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`
    command.addOption(
      new Option(flags, preset === undefined ? about : `${about} (default: ${preset})`),
    )
  }
  return command.option(
    '--config <file>',
    'all of these from a file: .json, or .mjs with a default export',
  )
}
