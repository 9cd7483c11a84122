// One slot from its master to another, step by step as redis-cli does it. Between the steps the old
// master answers for the keys that it still has and says ASK for those that it has given away.

import type { RedisServer } from './redis-server.ts'

export interface SlotMove {
  /** Moves up to `most` keys (default: all that are left); returns how many are left. */
  moveKeys(most?: number): Promise<number>
  /** Moves what is left and has every master know the slot's new place. */
  finish(): Promise<void>
}

interface Party extends RedisServer {
  readonly id: string
}

export interface SlotMovePlan {
  readonly slot: number
  readonly from: Party
  readonly to: Party
  readonly masters: readonly RedisServer[]
  readonly password?: string | undefined
}

export async function startSlotMove(plan: SlotMovePlan): Promise<SlotMove> {
  const { slot, from, to, masters, password } = plan
  await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
  await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)

  const moveKeys = async (most = Infinity) => {
    let left = most
    const credentials = password === undefined ? [] : ['AUTH', password]
    for (;;) {
      const keys =
        left <= 0 ? [] : await from.ask('CLUSTER', 'GETKEYSINSLOT', slot, Math.min(left, 100))
      if (!Array.isArray(keys) || keys.length === 0) break
      left -= keys.length
      const names = keys.map(String)
      await from.ask(
        'MIGRATE',
        '127.0.0.1',
        to.port,
        '',
        0,
        5_000,
        ...credentials,
        'KEYS',
        ...names,
      )
    }
    return Number(await from.ask('CLUSTER', 'COUNTKEYSINSLOT', slot))
  }
  return {
    moveKeys,
    finish: async () => {
      // A key may be made while its slot moves; from here on the new master takes every new one.
      while ((await moveKeys()) > 0);
      for (const server of [to, from, ...masters.filter((one) => one !== to && one !== from)]) {
        await server.ask('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
      }
    },
  }
}
