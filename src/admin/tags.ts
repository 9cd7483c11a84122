/** What was changed by tag, in words rather than labels. */
import { unescapeKey } from '../core/escape.ts'
import { everything, type Label } from '../core/labels.ts'
import type { Inspection, LyingTags, Mark } from '../ports.ts'
import type { TagChangeSeen, TagsSeen } from './seen.ts'

export async function seeTags(inspection: Inspection, most: number): Promise<TagsSeen> {
  const { highest, floor, count, newest, settling } = await inspection.tags([], most)
  return {
    count,
    highest,
    floor,
    newest: newest.map(seenChange),
    settling: settling.map(({ label, until }) => ({ what: labelWords(label), until })),
  }
}

/** The last change that reaches an entry as of `asOf`, which is known by these labels. */
export function lastChange(
  tags: LyingTags,
  { asOf, labels, now }: { asOf: number; labels: readonly Label[]; now: number },
): TagChangeSeen | undefined {
  const reaching = tags.marks.filter(({ epoch }) => epoch > asOf)
  const [last] = reaching.toSorted((a, b) => rank(b) - rank(a) || b.epoch - a.epoch)
  if (last !== undefined) return seenChange(last)
  if (asOf < tags.floor) {
    const what = 'all that is older than the state of tags'
    return { what, tag: undefined, how: 'forgotten', epoch: tags.floor, at: tags.floor / 1_000 }
  }
  const settling = tags.settling.find(({ label, until }) => labels.includes(label) && until <= now)
  if (settling === undefined) return undefined
  const { label, until } = settling
  return { what: labelWords(label), tag: tagOf(label), how: 'settling', epoch: 0, at: until }
}

/** What makes it unusable says more than what makes it stale. */
function rank({ kind }: Mark): number {
  return kind === 'gone' ? 1 : 0
}

function seenChange({ kind, label, epoch }: Mark): TagChangeSeen {
  const how = kind === 'gone' ? 'invalidated' : 'expired'
  return { what: labelWords(label), tag: tagOf(label), how, epoch, at: epoch / 1_000 }
}

/** A tag as its user writes it; anything else as it is. */
export function labelText(label: Label): string {
  return tagOf(label) ?? label
}

function tagOf(label: Label): string | undefined {
  if (label.startsWith('@@')) return unescapeKey(label.slice(1))
  return label.startsWith('@') ? undefined : unescapeKey(label)
}

function labelWords(label: Label): string {
  const tag = tagOf(label)
  if (tag !== undefined) return `tag ${JSON.stringify(tag)}`
  if (label === everything) return 'all entries'
  const name = JSON.stringify(unescapeKey(label.slice(3)))
  return label.startsWith('@r:') ? `definition ${name}` : `key ${name}`
}
