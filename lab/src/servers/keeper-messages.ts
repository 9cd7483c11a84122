// What the lab asks of its keeper, and what the keeper answers.

export interface KeeperRequest {
  readonly postgres: boolean
  readonly redisServer?: string | undefined
}

export type KeeperReply =
  | { readonly kind: 'ready'; readonly postgresSocketDir: string; readonly redisSocket: string }
  | { readonly kind: 'failed'; readonly reason: string }
