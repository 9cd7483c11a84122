/** Completion scripts, each in its shell's own language and without any dependency. */

export interface Word {
  readonly name: string
  readonly about: string
}

interface Sub extends Word {
  readonly options: readonly Word[]
}

export interface Words {
  readonly options: readonly Word[]
  readonly commands: readonly (Sub & { readonly commands: readonly Sub[] })[]
}

export function bash({ options, commands }: Words): string {
  const cases = commands.map(({ name, options: own, commands: subs }) => {
    const words = [...subs, ...own, ...options].map((word) => word.name).join(' ')
    return `    ${name}) words="${words}" ;;`
  })
  return `# breakwater: completion for bash
_breakwater() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" word
  words="${[...commands, ...options].map(({ name }) => name).join(' ')}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _breakwater breakwater
`
}

export function zsh({ options, commands }: Words): string {
  const quoted = ({ name, about }: Word): string => `'${name}:${about.replaceAll("'", '’')}'`
  const cases = commands.map(({ name, options: own, commands: subs }) => {
    return `      ${name}) described=(${[...subs, ...own, ...options].map(quoted).join(' ')}) ;;`
  })
  return `#compdef breakwater
_breakwater() {
  local word
  local -a described
  described=(${[...commands, ...options].map(quoted).join(' ')})
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$word" in
${cases.join('\n')}
    esac
  done
  _describe 'breakwater' described || _files
}
if [ "$funcstack[1]" = _breakwater ]; then _breakwater "$@"; else compdef _breakwater breakwater; fi
`
}

export function fish({ options, commands }: Words): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`
  const option = ({ name, about }: Word, when: string): string =>
    `complete -c breakwater${when} -l ${name.slice(2)} -d ${quoted(about)}`
  const seen = (name: string): string => ` -n '__fish_seen_subcommand_from ${name}'`
  return [
    '# breakwater: completion for fish',
    ...options.map((one) => option(one, '')),
    ...commands.flatMap(({ name, about, options: own, commands: subs }) => [
      `complete -c breakwater -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
      ...own.map((one) => option(one, seen(name))),
      ...subs.map(
        (sub) => `complete -c breakwater${seen(name)} -a ${sub.name} -d ${quoted(sub.about)}`,
      ),
    ]),
    '',
  ].join('\n')
}
