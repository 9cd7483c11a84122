// What is packed, in fewer bytes: a tenth of a library is how its code is laid out. The code stays
// readable, and a formatter lays it out again; comments are in the repository, and in the types.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { format } from 'prettier'

/** @type {import('prettier').Options} */
const style = {
  parser: 'babel',
  useTabs: true,
  semi: false,
  singleQuote: true,
  printWidth: 160,
  bracketSpacing: false,
  arrowParens: 'avoid',
  trailingComma: 'none',
}

const files = readdirSync('dist', { recursive: true, encoding: 'utf8' })
for (const file of files.filter((name) => name.endsWith('.js'))) {
  const path = `dist/${file}`
  const given = readFileSync(path, 'utf8')
  const tight = unindented(await format(given, style))
  if (tight !== given) writeFileSync(path, tight)
}

/** @param {string} code Laid out with tabs. A template over several lines is left as it is, and all of its file. */
function unindented(code) {
  const lines = code.split('\n')
  const hasTemplates = lines.some((line) => (line.split('`').length - 1) % 2 === 1)
  return hasTemplates ? code : lines.map((line) => line.replace(/^\t+/, '')).join('\n')
}
