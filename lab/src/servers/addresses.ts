// Where the lab's servers are: plain data, so that it can be sent to the processes that use them.

import type { ClientConfig } from 'pg'

export interface DatabaseAddress {
  readonly kind: 'private' | 'given'
  readonly config: ClientConfig
}

export type RedisAddress =
  | { readonly kind: 'private'; readonly socket: string }
  | { readonly kind: 'given'; readonly url: string }
