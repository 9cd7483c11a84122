// What the processes of the application are told, and tell.

export interface Plan {
  readonly url: string
  readonly loadMs: number
}

export type FromApp =
  | { readonly kind: 'ready'; readonly direct: number; readonly behind: number }
  /** Of the application since it was asked before. */
  | { readonly kind: 'runs'; readonly runs: number }
