/** What every adapter can take back. */

export interface PurgeOptions {
  /** Stale from now on instead of gone: still served within the stale windows. Default `false`. */
  soft?: boolean | undefined
}

export interface Purges {
  /**
   * Takes back what is kept of a URL, over both schemes and with all its variants: an absolute one, or a
   * path where the host is not in the key. Rejects with `STORE_UNAVAILABLE` where the store has not
   * taken it yet; it is repeated there until it has.
   */
  purge(url: string | URL, options?: PurgeOptions): Promise<void>
  /**
   * Takes back every answer with one of the tags (`Surrogate-Key`, `Cache-Tag`, the option `tags`), and
   * whatever else in the cache has them. At the price of one, however many there are.
   */
  purgeTags(tags: string | readonly string[], options?: PurgeOptions): Promise<void>
}
