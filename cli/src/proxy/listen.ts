/** A port taken, or a sentence about why it cannot be. */
import type { Server } from 'node:net'
import { Failure } from '../ending.ts'

export interface At {
  readonly port: number
  readonly host: string | undefined
}

export function listen(server: Server, { port, host }: At): Promise<void> {
  return new Promise((resolve, reject) => {
    const where = `${host ?? 'all addresses'}, port ${port}`
    const refused = (error: Error): void =>
      reject(new Failure('found', `cannot listen on ${where}: ${error.message}`, error))
    server.once('error', refused)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', refused)
      resolve()
    })
  })
}
