// What the keeper tells the lab, once.

export type KeeperReply =
  | { readonly kind: 'ready'; readonly socketDir: string }
  | { readonly kind: 'failed'; readonly reason: string }
