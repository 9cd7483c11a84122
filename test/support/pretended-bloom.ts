// BF.* as RedisBloom answers it, for a server that has none: exact sets here, and a key in the server
// that stands for each, so that it can be evicted, expire and be flushed.

import type { Argument, RedisCommands } from '../../src/redis/commands.ts'

/** By key: what was added to it, since it was made. */
const filters = new Map<string, Set<string>>()

export function pretendedBloom(commands: RedisCommands): RedisCommands {
  const isThere = async (key: string) => Number(await commands.keyed('EXISTS', key, [])) === 1
  const texts = (args: readonly Argument[]) => args.map((arg) => Buffer.from(arg).toString('hex'))
  const pretended: Partial<RedisCommands> = {
    keyed: async (command, key, args) => {
      switch (command) {
        case 'BF.RESERVE': {
          if (await isThere(key)) throw new Error('ERR item exists')
          filters.set(key, new Set())
          return commands.keyed('SET', key, ['a filter'])
        }
        case 'BF.INSERT': {
          const [noCreate, items, ...rest] = args
          if (noCreate !== 'NOCREATE' || items !== 'ITEMS') throw new Error('ERR bad arguments')
          if (!(await isThere(key))) throw new Error('ERR not found')
          const filter = filters.get(key)!
          return texts(rest).map((item) => Number(filter.size < filter.add(item).size))
        }
        case 'BF.MEXISTS': {
          const filter = (await isThere(key)) ? filters.get(key) : undefined
          return texts(args).map((item) => Number(filter?.has(item) === true))
        }
        case 'BF.CARD':
          return (await isThere(key)) ? (filters.get(key)?.size ?? 0) : 0
        default:
          return commands.keyed(command, key, args)
      }
    },
  }
  return Object.assign(Object.create(commands) as RedisCommands, pretended)
}
