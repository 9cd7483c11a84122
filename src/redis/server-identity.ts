/**
 * Which servers answer, and in which role: what `Beat.server` is made of. Another set of names is
 * news at once, and so is another server or role behind a name that was known; to get to know one
 * is none. Who stands behind a name is asked with the first beat after a connect; in a cluster,
 * whose client tells nothing of a single server's connection, of each in turn. A server that will
 * not say (NOPERM on INFO) counts as another one after every reconnect, which costs repeated
 * invalidations and nothing else.
 */
import type { RedisServer } from './commands.ts'

interface Known {
  readonly identity: string
  /** When it was asked, as a count of connections. */
  readonly connection: number
  /** How often it was another one than before. */
  readonly changes: number
}

export class ServerIdentity {
  readonly #known = new Map<string, Known>()
  #connections = 0

  /** Another server may answer from now on. */
  forget(): void {
    this.#connections += 1
  }

  isKnown({ name }: RedisServer): boolean {
    return this.#known.get(name)?.connection === this.#connections
  }

  async learn(server: RedisServer): Promise<void> {
    const connection = this.#connections
    const identity = await identify(server, connection)
    if (connection !== this.#connections) return
    const before = this.#known.get(server.name)
    const { changes = 0 } = before ?? {}
    const isOther = before !== undefined && before.identity !== identity
    this.#known.set(server.name, { identity, connection, changes: isOther ? changes + 1 : changes })
  }

  /** How often another one answered by this name, or the same in another role, as far as is known. */
  changesOf(name: string): number | undefined {
    return this.#known.get(name)?.changes
  }

  /** The same, asked now; `undefined`: what was told may already be of before. */
  async identify(server: RedisServer): Promise<number | undefined> {
    await this.learn(server)
    return this.isKnown(server) ? this.changesOf(server.name) : undefined
  }

  /** The same as long as these are, as far as is known. */
  of(servers: readonly RedisServer[]): string {
    const names = servers.map(({ name }) => name).toSorted()
    for (const name of this.#known.keys()) if (!names.includes(name)) this.#known.delete(name)
    // One server is known by the time that it is asked about; of several not all may be yet.
    const [only] = servers
    if (servers.length === 1)
      return `${only!.name} ${this.#known.get(only!.name)?.identity ?? ''}`.trim()
    return names.map((name) => `${name} ${this.#known.get(name)?.changes ?? 0}`).join()
  }
}

async function identify(server: RedisServer, connection: number): Promise<string> {
  try {
    const [about, replication] = await Promise.all([
      server.info('server'),
      server.info('replication'),
    ])
    const runId = /^run_id:(\S+)/m.exec(about)?.[1]
    const role = /^role:(\S+)/m.exec(replication)?.[1]
    if (runId !== undefined && role !== undefined) return `${runId} ${role}`
  } catch (error) {
    const refused = error instanceof Error && /^(NOPERM|ERR unknown command)/.test(error.message)
    if (!refused) throw error
  }
  return `unknown ${connection}`
}
