/** `breakwater completion bash|zsh|fish`: made from the commands themselves, so that none is missing. */
import type { Command } from 'commander'
import { usage } from '../ending.ts'
import { bash, fish, zsh, type Words } from './shells.ts'

const shells = { bash, zsh, fish }

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('the script that completes commands and options in your shell')
    .addHelpText('after', examples)
    .action((shell: string) => {
      if (!Object.hasOwn(shells, shell)) {
        throw usage(`SHELL: expected bash, zsh or fish, got ${JSON.stringify(shell)}`)
      }
      process.stdout.write(shells[shell as keyof typeof shells](wordsOf(program)))
    })
}

const examples = `
Examples:
  $ eval "$(breakwater completion bash)"                                          # in ~/.bashrc
  $ breakwater completion zsh > "\${fpath[1]}/_breakwater"
  $ breakwater completion fish > ~/.config/fish/completions/breakwater.fish`

function wordsOf(program: Command): Words {
  const options = (command: Command): Words['options'] =>
    command.options.map(({ long, description }) => ({ name: long ?? '', about: description }))
  return {
    options: [...options(program), { name: '--help', about: 'what there is' }],
    commands: program.commands.map((command) => ({
      name: command.name(),
      about: command.description(),
      options: options(command as Command),
      commands: command.commands.map((sub) => ({
        name: sub.name(),
        about: sub.description(),
        options: options(sub as Command),
      })),
    })),
  }
}
