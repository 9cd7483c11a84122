// Refuses a Node.js that is too old with one clear sentence, before anything else can fail.
// The minimum is the one in package.json (`engines.node`).

import { readFileSync } from 'node:fs'

export function requireNodeVersion() {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const [major = 0, minor = 0] = numbers(manifest.engines.node)
  const [ownMajor = 0, ownMinor = 0] = numbers(process.versions.node)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  console.error(
    `breakwater needs Node.js ${major}.${minor} or newer, and this is ${process.version}. ` +
      'Install a newer one (https://nodejs.org) and run the command again.',
  )
  process.exit(1)
}

/** @param {string} version */
function numbers(version) {
  return (version.match(/\d+/g) ?? []).map(Number)
}
