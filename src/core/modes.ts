/**
 * How a definition is used for now: what whoever is on call can switch without a deploy.
 *
 * - `normal`
 * - `bypass`: every call goes to the source, around what is kept; calls at the same time still share
 *   one load, under the limit. Nothing is stored.
 * - `no-refresh`: nothing is loaded in the background; stale answers are given as long as they may be.
 * - `stale-only`: nothing is loaded at all; what is kept is given, within its windows.
 */
export const modes = ['normal', 'bypass', 'no-refresh', 'stale-only'] as const
export type Mode = (typeof modes)[number]

export const modesInWords = "'normal', 'bypass', 'no-refresh' or 'stale-only'"

export function isMode(given: unknown): given is Mode {
  return modes.includes(given as Mode)
}
