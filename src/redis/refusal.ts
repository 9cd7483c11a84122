/**
 * Error replies that mean "I answer, but I do not take writes (from you)": the key can be loaded
 * without a lease. So it can while its slot moves (TRYAGAIN), where a command is switched off, and
 * where one server of a cluster refuses keys of several slots at once (CROSSSLOT). Everything else
 * (LOADING, NOAUTH, BUSY, MOVED to a client of one server, a lost connection) is a store that does
 * not answer. Redis 6 puts the word behind the name of the script that met it.
 */

const refusing = /(?:^|[\s-])(OOM|READONLY|MISCONF|NOREPLICAS|NOPERM|TRYAGAIN|CROSSSLOT)\b/
/** How Redis 7 words NOPERM for a command inside a script. */
const scriptDenied = /^ERR The user executing the script can't/
/** As it is sent, or within a script. Without scripts themselves there is nothing to be had. */
const switchedOff = /^ERR .*\bunknown (?:\w+ )?command\b(?! ['`]eval)/i
/** What a server says begins with a word in capitals, what a client says does not. */
const said = /^[A-Z][A-Z0-9]+ /

export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (scriptDenied.test(error.message)) return 'NOPERM'
  if (switchedOff.test(error.message)) return 'UNKNOWN'
  return refusing.exec(error.message)?.[1]
}

/** A replica says so when it is to write, or (`replica-serve-stale-data no`) when it is asked at all. */
export function isFromReplica(error: unknown): boolean {
  return error instanceof Error && /\b(READONLY|MASTERDOWN)\b/.test(error.message)
}

/** Whoever replies is not silent, whatever the reply is. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && said.test(error.message)
}

export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE')
}
