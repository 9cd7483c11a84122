// What the waiter (the parent) and the holder (its child) say to each other. Instants are those of
// the host's monotonic clock, which both processes share.

export type ToHolder =
  | { readonly kind: 'start'; readonly url: string; readonly loadMs: number }
  | { readonly kind: 'load'; readonly key: string }
  | { readonly kind: 'push' }

export type FromHolder =
  | { readonly kind: 'ready' }
  | { readonly kind: 'loading'; readonly key: string }
  /** Sent well after the push, so that it does not get in its way. */
  | { readonly kind: 'loaded'; readonly at: string }
  | { readonly kind: 'pushed'; readonly at: string }

export const pushChannel = 'bench-bare-push'
