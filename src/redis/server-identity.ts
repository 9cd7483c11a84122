/**
 * Which server answers, and in which role: what `Beat.server` is made of. Asked for with the first
 * beat after a connect, not on every beat. A server that will not say (NOPERM on INFO) counts as
 * another one after every reconnect, which costs repeated invalidations and nothing else.
 */
import type { RedisCommands } from './commands.ts'

export class ServerIdentity {
  readonly #commands: RedisCommands
  #known: Promise<string> | undefined
  #connections = 0

  constructor(commands: RedisCommands) {
    this.#commands = commands
  }

  /** Another server may answer from now on. */
  forget(): void {
    this.#known = undefined
    this.#connections += 1
  }

  ask(): Promise<string> {
    if (this.#known !== undefined) return this.#known
    const asking = this.#ask()
    this.#known = asking
    asking.catch(() => {
      if (this.#known === asking) this.#known = undefined
    })
    return asking
  }

  async #ask(): Promise<string> {
    const connection = this.#connections
    try {
      const [server, replication] = await Promise.all([
        this.#commands.info('server'),
        this.#commands.info('replication'),
      ])
      const runId = /^run_id:(\S+)/m.exec(server)?.[1]
      const role = /^role:(\S+)/m.exec(replication)?.[1]
      if (runId !== undefined && role !== undefined) return `${runId} ${role}`
    } catch (error) {
      const refused = error instanceof Error && /^(NOPERM|ERR unknown command)/.test(error.message)
      if (!refused) throw error
    }
    return `unknown ${connection}`
  }
}
