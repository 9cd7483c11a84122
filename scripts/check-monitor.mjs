// What did connections of breakwater send? Reads the logs that the rig's servers keep while
// BREAKWATER_MONITOR names a directory, and fails where one of ours ever sent a command that walks or
// empties a database, which is never ours alone: by itself, or inside of a script.
//
//   BREAKWATER_MONITOR=/tmp/monitor npm test -- test/redis
//   node scripts/check-monitor.mjs /tmp/monitor
//
// Tests have connections of their own, which do such things. It fails, too, where nothing was logged.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLog } from './setup/monitor-log.mjs'

const forbidden = ['KEYS', 'SCAN', 'FLUSHDB', 'FLUSHALL']

const [directory = ''] = process.argv.slice(2)
if (!existsSync(directory)) {
  console.error(`expected the directory of the logs, got ${JSON.stringify(directory)}`)
  process.exit(2)
}
const files = readdirSync(directory).filter((name) => name.endsWith('.log'))
// Named `<port>-…`: what comes from such a port is what a master tells its replica.
const servers = new Set(files.map((name) => name.split('-', 1)[0] ?? ''))

/** @type {Map<string, number>} */
const sent = new Map()
const connections = { ours: 0, others: 0 }
let gaps = 0
let unmonitored = 0
const faults = []
for (const file of files) {
  const log = readLog(readFileSync(join(directory, file), 'latin1'), servers)
  gaps += log.gaps
  unmonitored += log.isRefused ? 1 : 0
  for (const { isOurs, commands } of log.connections) {
    connections[isOurs ? 'ours' : 'others'] += 1
    if (!isOurs) continue
    for (const { name, isInScript, line } of commands) {
      const label = isInScript ? `${name} (script)` : name
      sent.set(label, (sent.get(label) ?? 0) + 1)
      if (forbidden.includes(name)) faults.push(`${file}: ${line}`)
    }
  }
}

const counts = [...sent].toSorted(([, one], [, other]) => other - one)
const total = counts.reduce((sum, [, times]) => sum + times, 0)
console.log(
  `${files.length} servers, ${unmonitored} of them sentinels, which have no MONITOR; ` +
    `${gaps} times a log was cut and begun again`,
)
console.log(`${connections.ours} connections of ours, ${connections.others} of others`)
console.log(`${total} commands by ours: ${counts.map((each) => each.join(' ')).join(', ')}`)
if (connections.ours === 0) console.error('expected commands of ours in the logs, found none')
for (const fault of faults) console.error(`sent by one of ours: ${fault}`)
if (connections.ours > 0 && faults.length === 0) console.log(`none of ${forbidden.join(', ')}`)
else process.exitCode = 1
