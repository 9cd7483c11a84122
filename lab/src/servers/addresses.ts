// Where the lab's servers are: plain data, so that it can be sent to the processes that use them.
// `given` ones belong to the user: the lab is a guest there.

import type { ClientConfig } from 'pg'

export interface DatabaseAddress {
  readonly kind: 'private' | 'given'
  readonly config: ClientConfig
}

export interface RedisAddress {
  readonly kind: 'private' | 'given'
  /** For `new Redis(url)`: a URL or the path of a socket. */
  readonly url: string
}
