// `npm run soak`: exits with 1 when anything was lost. The seed that is printed repeats the faults.

import { readFlags, type Flags } from './flags.ts'
import { Fleet } from './fleet.ts'
import type { Client } from './messages.ts'
import { seeded } from './random.ts'
import { describeSoak } from './report.ts'
import { soak } from './soak.ts'

const help = `Usage: npm run soak -- [--minutes N] [--seed N] [--client ioredis|node-redis|both] [--rate N]

Four processes under load while Redis, the network and they themselves fail at random; then what was
held and what was lost.
  --minutes N   of faults (3); about one more before and after
  --seed N      the same faults in the same order
  --client C    by which client (both: two processes each)
  --rate N      requests per second to all processes together (200)
`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  let flags: Flags
  try {
    flags = readFlags(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    return 1
  }
  if (flags.help) {
    console.log(help)
    return 0
  }
  const { client, seed, minutes, perSecond } = flags
  const clients: Client[] =
    client === 'both'
      ? ['ioredis', 'node-redis', 'ioredis', 'node-redis']
      : [client, client, client, client]
  console.error(`soak: seed ${seed}`)
  const fleet = await Fleet.start({ clients, seed })
  try {
    const say = (text: string): void => console.error(`soak: ${text}`)
    const result = await soak(fleet, { minutes, perSecond, random: seeded(seed), say })
    console.log(`seed ${seed}, ${minutes} min, ${client}\n\n${describeSoak(result)}`)
    return result.found.length === 0 ? 0 : 1
  } finally {
    await fleet.end()
  }
}
