// One server's log of MONITOR, taken apart into its connections, and which of them are ours.
//
// A line names the sender's address and no connection. Addresses come again: a connection begins
// with what its client says first, or with what the rig says first of its own, which have one command.

/**
 * @typedef {{ name: string, isInScript: boolean, line: string }} Command
 * @typedef {{ isOurs: boolean, isRig: boolean, commands: Command[] }} Connection
 * @typedef {{ connections: Connection[], gaps: number, isRefused: boolean }} Log
 */

// `+1764528945.123456 [0 127.0.0.1:54321] "GET" "bw:shop:{k:a}:v"`; of a script: `[0 lua]`.
const line = /^\+?[\d.]+ \[\d+ ([^\]]+)\] (".*)$/
const word = /"((?:[^"\\]|\\.)*)"?/g

/** @type {(name: string, words: readonly string[]) => boolean} */
const isGreeting = (name, words) =>
  name === 'HELLO' || name === 'AUTH' || (name === 'INFO' && words.length === 1)

/**
 * What tests do not send: our scripts, a subscription to our channels, the beat that a cache sends to
 * itself. A GET or a message say nothing, since tests look at our keys and speak in our channels; a
 * connection that only reads, from a replica, has said so before.
 * @type {(name: string, words: readonly string[]) => boolean}
 */
const isOurs = (name, words) => {
  if (name === 'EVALSHA') return words[3]?.includes('bw:') === true
  if (name === 'SUBSCRIBE') return words[1]?.startsWith('bw:') === true
  if (name === 'PUBLISH') return /^bw:.*@/.test(words[1] ?? '')
  return name === 'READONLY'
}

/**
 * @param {string} text
 * @param {ReadonlySet<string>} servers ports
 * @returns {Log}
 */
export function readLog(text, servers) {
  /** @type {Map<string, Connection>} */
  const byAddress = new Map()
  /** @type {Connection[]} */
  const connections = []
  const begin = (/** @type {string} */ address, isRig = false) => {
    const connection = { isOurs: false, isRig, commands: [] }
    byAddress.set(address, connection)
    connections.push(connection)
    return connection
  }
  let gaps = 0
  let isRefused = false
  let sender = ''
  for (const each of text.split('\n')) {
    if (each === '# lost') gaps += 1
    if (each.startsWith('# not monitored')) isRefused = true
    const [, by, command] = line.exec(each) ?? []
    if (by === undefined || command === undefined) continue
    const words = Array.from(command.matchAll(word), ([, found = '']) => found)
    const name = (words[0] ?? '').toUpperCase()
    const isInScript = by === 'lua'
    // Nothing comes between the call of a script and what that does.
    if (!isInScript) sender = by
    if (servers.has(sender.split(':')[1] ?? '')) continue
    if (!isInScript && name === 'PING' && words[1] === 'rig') {
      begin(sender, true)
      continue
    }
    let connection = byAddress.get(sender)
    const isAsked = connection?.isRig === true && connection.commands.length > 0
    const begins = !isInScript && (isAsked || isGreeting(name, words))
    if (connection === undefined || begins) connection = begin(sender)
    connection.commands.push({ name, isInScript, line: each })
    if (!isInScript && !connection.isRig && isOurs(name, words)) connection.isOurs = true
  }
  return { connections, gaps, isRefused }
}
