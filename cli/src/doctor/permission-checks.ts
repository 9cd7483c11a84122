/**
 * Every command that a cache sends is really sent, under a key and a channel of the namespace that
 * no entry uses: what is refused is missing, whatever the rules look like. In a cluster a server that
 * has not the slot says MOVED, which it does only after it has found the user permitted.
 */
import { permissionsOf } from 'breakwater/admin'
import { problem, unknown, well, type Finding } from './finding.ts'
import type { ServerView } from './server-view.ts'

export interface Of {
  /** `undefined`: the rights to keys and channels cannot be told from those to others. */
  readonly namespace: string | undefined
  readonly keyPrefix: string
}

type Refused =
  | { readonly type: 'command'; readonly name: string }
  | { readonly type: 'unknown'; readonly name: string }
  | { readonly type: 'keys' | 'channels' }

export async function checkPermissions(server: ServerView, of: Of): Promise<Finding> {
  const { namespace, keyPrefix } = of
  const needed = permissionsOf(namespace ?? 'breakwater-doctor', keyPrefix)
  const { probeKey, probeChannel, commands } = needed
  const refused: Refused[] = []
  const script = 'return 1'
  const calls: Readonly<Record<string, readonly (string | number)[]>> = {
    get: [probeKey],
    mget: [probeKey],
    set: [probeKey, 'x', 'PX', 10_000],
    getrange: [probeKey, 0, 1],
    setrange: [probeKey, 0, 'y'],
    pttl: [probeKey],
    pexpire: [probeKey, 10_000],
    zadd: [`${probeKey}:z`, 1, 'x'],
    zcard: [`${probeKey}:z`],
    zscore: [`${probeKey}:z`, 'x'],
    zrange: [`${probeKey}:z`, 0, 0],
    zrevrange: [`${probeKey}:z`, 0, 0],
    zrevrangebyscore: [`${probeKey}:z`, 1, 0],
    zremrangebyrank: [`${probeKey}:z`, 5, 6],
    zremrangebyscore: [`${probeKey}:z`, 5, 6],
    zrem: [`${probeKey}:z`, 'x'],
    unlink: [probeKey],
    del: [probeKey],
    time: [],
    info: ['server'],
    eval: [script, 1, probeKey],
    evalsha: ['0'.repeat(40), 1, probeKey],
    publish: [probeChannel, ''],
    ping: [],
  }
  for (const name of Object.keys(calls)) {
    const no = await refusal(name, () => server.call(name, ...calls[name]!))
    if (no !== undefined) refused.push(no)
  }
  refused.push(...(await subscribing(server, probeChannel)))
  if (refused.length === 0) {
    return well(
      'permissions',
      `${await userOf(server)} may do all that a cache does (${commands.length} commands)`,
    )
  }
  return finding(server, refused, { namespace, ...needed })
}

async function subscribing({ client }: ServerView, channel: string): Promise<Refused[]> {
  const ears = client.duplicate({
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
  })
  ears.on('error', () => {})
  try {
    await ears.connect()
    const no = [await refusal('subscribe', () => ears.subscribe(channel))]
    // What is refused in this mode is the word, and not what it is about.
    no.push(await refusal('unsubscribe', () => ears.unsubscribe(channel)))
    return no.filter((one) => one !== undefined)
  } finally {
    ears.disconnect()
  }
}

async function refusal(name: string, run: () => Promise<unknown>): Promise<Refused | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    const { message } = error as Error
    if (/unknown command/i.test(message)) return { type: 'unknown', name }
    if (!message.startsWith('NOPERM')) return undefined
    if (/\bkeys?\b/.test(message)) return { type: 'keys' }
    if (/\bchannels?\b/.test(message)) return { type: 'channels' }
    return { type: 'command', name }
  }
}

async function finding(
  server: ServerView,
  refused: readonly Refused[],
  needed: { namespace: string | undefined; keys: string; channels: string },
): Promise<Finding> {
  const types = new Set(refused.map(({ type }) => type))
  const isRefused = (...names: readonly string[]): boolean =>
    names.some((name) => refused.some((one) => one.type === 'command' && one.name === name))
  // Of a command that is refused as such nobody says whether it might be used there.
  if (isRefused('publish', 'subscribe')) types.add('channels')
  if (isRefused('get') && isRefused('set')) types.add('keys')
  const named = (type: 'command' | 'unknown'): string[] =>
    refused.flatMap((one) => (one.type === type ? [one.name] : []))
  const rules = [
    ...(types.has('keys') ? [`~${needed.keys}`] : []),
    ...(types.has('channels') ? [`&${needed.channels}`] : []),
    ...named('command').map((name) => `+${name}`),
  ]
  const gone = named('unknown')
  if (needed.namespace === undefined && named('command').length + gone.length === 0) {
    return unknown(
      'permissions',
      'some keys or channels are refused; those of the cache were not tried',
      'give its name: --namespace NAME',
    )
  }
  const user = await userOf(server)
  const lines = [
    ...(rules.length > 0 ? [`ACL SETUSER ${user} ${rules.join(' ')}`] : []),
    ...(gone.length > 0 ? [`rename-command: give back ${gone.join(', ')}`] : []),
  ]
  return problem('permissions', {
    found: [
      ...(rules.length > 0 ? [`${user} lacks ${rules.join(' ')}`] : []),
      ...(gone.length > 0 ? [`the server has no ${gone.join(', ')}`] : []),
    ].join('; '),
    why: 'what is refused (NOPERM) is not cached, not locked, or not told to the other processes',
    change: lines.join('\n'),
  })
}

async function userOf(server: ServerView): Promise<string> {
  const known = server.client.options.username ?? 'default'
  try {
    return String(await server.call('ACL', 'WHOAMI'))
  } catch {
    return known
  }
}
