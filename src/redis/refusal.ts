/**
 * Error replies that mean "I answer, but I do not take writes (from you)": the key can be loaded
 * without a lease. So it can while its slot moves (TRYAGAIN). Everything else (LOADING, NOAUTH, BUSY, a lost connection) is a store that
 * does not answer. Redis 6 puts the word behind the name of the script that met it.
 */

const refusing = /(?:^|[\s-])(OOM|READONLY|MISCONF|NOREPLICAS|NOPERM|TRYAGAIN)\b/
/** How Redis 7 words NOPERM for a command inside a script. */
const scriptDenied = /^ERR The user executing the script can't/

export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (scriptDenied.test(error.message)) return 'NOPERM'
  return refusing.exec(error.message)?.[1]
}

export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE')
}
