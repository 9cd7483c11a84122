/** What all subcommands are told by options and environment, checked once. */
import type { Command } from 'commander'
import { usage } from './ending.ts'
import { output, type Output } from './print/output.ts'

export interface Settings {
  readonly redis: string
  readonly namespace: string | undefined
  readonly keyPrefix: string
  readonly tls: TlsSettings
  readonly timeoutMs: number
  readonly out: Output
}

export interface TlsSettings {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly insecure: boolean
}

interface Given {
  readonly redis?: string
  readonly namespace?: string
  readonly keyPrefix?: string
  readonly tlsCa?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly insecure?: boolean
  readonly timeout: string
  readonly json?: boolean
  readonly color: boolean
}

/** Options that stand before or behind the name of the subcommand. */
export function withCommonOptions(program: Command): Command {
  return program
    .option('--redis <url>', 'the server; default: $REDIS_URL')
    .option('-n, --namespace <name>', 'the cache; default: $BREAKWATER_NAMESPACE')
    .option('--key-prefix <text>', 'that the application’s Redis client puts before every key')
    .option('--tls-ca <file>', 'certificate authority (PEM) that the server’s certificate is of')
    .option('--tls-cert <file>', 'certificate of this client (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--insecure', 'accept any certificate')
    .option('--timeout <ms>', 'for the connection, and for each answer', '5000')
    .option('--json', 'one JSON document on stdout')
    .option('--no-color', 'no colours; $NO_COLOR does the same')
    .option('--debug', 'stack traces')
}

export function settingsOf(command: Command, env: NodeJS.ProcessEnv = process.env): Settings {
  const given = command.optsWithGlobals<Given>()
  const redis = given.redis ?? env['REDIS_URL'] ?? ''
  if (redis === '') {
    throw usage('--redis: expected a URL such as redis://localhost:6379, got none, nor REDIS_URL')
  }
  const namespace = given.namespace ?? env['BREAKWATER_NAMESPACE']
  if (namespace !== undefined && !/^[A-Za-z0-9._-]{1,64}$/.test(namespace)) {
    const got = JSON.stringify(namespace)
    throw usage(`--namespace: expected 1 to 64 of A-Z a-z 0-9 . _ -, got ${got}`)
  }
  return {
    redis,
    namespace,
    keyPrefix: given.keyPrefix ?? '',
    tls: {
      ca: given.tlsCa,
      cert: given.tlsCert,
      key: given.tlsKey,
      insecure: given.insecure === true,
    },
    timeoutMs: numberOf('--timeout', given.timeout, { least: 1, most: 600_000 }),
    out: output({ json: given.json === true, colour: given.color && wantsColour(env) }),
  }
}

export function namespaceOf({ namespace }: Settings): string {
  if (namespace === undefined) {
    throw usage('--namespace: expected the name given to createCache({ namespace }), got none')
  }
  return namespace
}

export function numberOf(
  option: string,
  text: string,
  { least, most, whole = false }: { least: number; most: number; whole?: boolean },
): number {
  const value = text.trim() === '' ? NaN : Number(text)
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  const kind = whole ? 'a whole number' : 'a number'
  throw usage(`${option}: expected ${kind} from ${least} to ${most}, got ${JSON.stringify(text)}`)
}

/** https://no-color.org */
function wantsColour(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' && process.stdout.isTTY === true
}
