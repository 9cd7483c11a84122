/** What a cache needs of Redis, for who grants it and for who checks it. */

export interface Permissions {
  readonly keys: string
  readonly channels: string
  /** Without the ones that only a connection needs (`AUTH`, `HELLO`). */
  readonly commands: readonly string[]
  /** As `ACL SETUSER` takes them. */
  readonly rules: string
  /** No entry's key, under which commands can be tried. */
  readonly probeKey: string
  readonly probeChannel: string
}

const commands = [
  'get', 'mget', 'getrange', 'set', 'setrange', 'del', 'unlink', 'pttl', 'pexpire',
  'zadd', 'zrem', 'zcard', 'zscore', 'zrange', 'zrevrange', 'zrevrangebyscore', 'zremrangebyrank', 'zremrangebyscore',
  'time', 'info', 'eval', 'evalsha', 'publish', 'subscribe', 'unsubscribe', 'ping',
] as const // prettier-ignore

/** `keyPrefix`: what the client puts before every key, but not before channels. */
export function permissionsOf(namespace: string, keyPrefix = ''): Permissions {
  const channels = `bw:${namespace}:*`
  const keys = keyPrefix + channels
  return {
    keys,
    channels,
    commands,
    rules: [`~${keys}`, `&${channels}`, ...commands.map((command) => `+${command}`)].join(' '),
    // As for the keys of tags: no user's key is escaped to a `%` before these letters.
    probeKey: `${keyPrefix}bw:${namespace}:{${namespace}%probe}`,
    probeChannel: `bw:${namespace}:probe`,
  }
}
