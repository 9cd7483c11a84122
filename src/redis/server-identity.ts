/**
 * Which servers answer, and in which role: what `Beat.server` is made of. Names of other servers
 * are news at once. Who stands behind a name is asked with the first beat after a connect; in a
 * cluster, whose client tells nothing of a single server's connection, with every beat that goes
 * through it. A server that will not say (NOPERM on INFO) counts as another one after every
 * reconnect, which costs repeated invalidations and nothing else.
 */
import type { RedisServer } from './commands.ts'

export class ServerIdentity {
  #known = new Map<string, string>()
  #connections = 0

  /** Another server may answer from now on. */
  forget(): void {
    this.#known.clear()
    this.#connections += 1
  }

  /** Asks `through` alone: a beat must not wait for a server that it does not go through. */
  async ask(servers: readonly RedisServer[], through: RedisServer): Promise<string> {
    if (servers.length > 1 || !this.#known.has(through.name)) {
      const connection = this.#connections
      const identity = await identify(through, connection)
      if (connection === this.#connections) this.#known.set(through.name, identity)
    }
    return servers.map(({ name }) => `${name} ${this.#known.get(name) ?? ''}`.trim()).join()
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
