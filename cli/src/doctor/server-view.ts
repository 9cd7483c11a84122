/** One server as the checks see it. What it refuses to tell is `undefined`, and no error. */
import type { Redis } from 'ioredis'

export interface ServerView {
  readonly name: string
  readonly client: Redis
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>
  /** A field of INFO. */
  info(field: string): Promise<string | undefined>
  /** A parameter by CONFIG GET, which hosted services and narrow users refuse. */
  config(name: string): Promise<string | undefined>
}

export function serverView(name: string, client: Redis): ServerView {
  let asked: Promise<ReadonlyMap<string, string>> | undefined
  const call: ServerView['call'] = (command, ...args) => client.call(command, ...args.map(String))
  return {
    name,
    client,
    call,
    info: async (field) => {
      asked ??= client.info().then(fieldsOf, () => new Map())
      return (await asked).get(field)
    },
    config: async (parameter) => {
      try {
        const [, value] = (await call('CONFIG', 'GET', parameter)) as readonly string[]
        return value
      } catch {
        return undefined
      }
    },
  }
}

/** A field that is not there, or no number, is NaN. */
export async function numberIn(server: ServerView, field: string): Promise<number> {
  return Number((await server.info(field)) ?? NaN)
}

function fieldsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon < 1 || line.startsWith('#')
        ? []
        : [[line.slice(0, colon), line.slice(colon + 1)]]
    }),
  )
}
