/** Changes entries by the keys that are meant. */
import { byKey } from 'breakwater/admin'
import { withCache } from '../connect/open.ts'
import { keysGiven } from '../inspect/keys.ts'
import { plain } from '../print/paint.ts'
import type { Settings } from '../settings.ts'
import type { ChangeGiven, What } from './entries.ts'
import { settleOf } from './settle.ts'

/** A text that may be the key of a definition or a one-off key is taken for both: neither stays. */
export async function change(
  what: What,
  settings: Settings,
  { keys: named, given }: { keys: readonly string[]; given: ChangeGiven },
): Promise<void> {
  const meant = keysGiven(named, given)
  const keys = meant.flat()
  const settle = settleOf(given.settle)
  await withCache(settings, async (cache) => {
    const { invalidateMany, expireMany } = byKey(cache)
    if (what === 'expire') await expireMany(keys)
    else await invalidateMany(keys, { settle })
  })
  const done = what === 'expire' ? 'expired' : 'invalidated'
  settings.out.result({ done, keys }, () =>
    meant.map(([likeliest]) => `${done} ${plain(likeliest)}`).join('\n'),
  )
}
