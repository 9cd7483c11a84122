/**
 * What breakwater needs of a Redis client, and nothing more: an adapter per client implements it.
 * Replies are bytes; keys get the client's own key prefix from the client, channels get none.
 * No deadline, no queue and no retry here: the client's own behaviour, and ours above.
 */

export type Bytes = Uint8Array
export type Argument = string | Bytes

/** Beyond those that have a method of their own. `BF.…` is of a module. */
export type KeyedCommand =
  | 'BITFIELD'
  | 'BITFIELD_RO'
  | 'GETRANGE'
  | 'HGET'
  | 'HDEL'
  | 'EXISTS'
  | 'PTTL'
  | 'ZSCORE'
  | 'ZCARD'
  | 'ZREVRANGE'
  | 'SET'
  | 'PEXPIRE'
  | 'PERSIST'
  | 'UNLINK'
  | 'BF.RESERVE'
  | 'BF.INSERT'
  | 'BF.MEXISTS'
  | 'BF.CARD'

export interface ScriptCall {
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

export interface RedisCommands {
  /** Database number and key prefix of this client: part of the channels' names. */
  readonly db: number
  readonly keyPrefix: string
  readonly ready: boolean
  /** Its reads go to a replica. */
  readonly fromReplica: boolean
  /** Bytes that came in over the present connections. */
  readonly received: number
  /** Breaks the present connections, so that the client makes new ones. */
  reconnect(): void
  /** Where the client makes one connection at a time, and lets us give it up. */
  readonly connecting?: RedisConnecting | undefined
  /** Writes meet a server that is no master any more: has the client find out who is. */
  findMaster(): void
  /** Of a cluster. */
  readonly shards?: RedisShards | undefined
  /**
   * Who takes writes: the one server, or each master of a cluster, as the client knows them now,
   * connected or not.
   */
  servers(): readonly RedisServer[]
  get(key: string): Promise<Bytes | null>
  /**
   * In the order of the keys, whatever slots they lie in; another type than a string is null. What
   * one server of a cluster could not answer is an error at its place, and the rest is answered.
   */
  mget(keys: readonly string[]): Promise<readonly (Bytes | null | Error)[]>
  /** Sent to the server of the first key, as all of a call's keys lie in one slot. */
  evalsha(sha1: string, call: ScriptCall): Promise<unknown>
  eval(source: string, call: ScriptCall): Promise<unknown>
  /** Many calls, one write to each server's socket. In order; a failed one is its error. */
  evalshaMany(sha1: string, calls: readonly ScriptCall[]): Promise<unknown[]>
  /** Any other command whose first argument is its key, never answered by a replica. */
  keyed(command: KeyedCommand, key: string, args: readonly Argument[]): Promise<unknown>
  /** Calls back on every change of `ready`. Returns what ends that. */
  watch(onReady: (ready: boolean) => void): () => void
  /** Connects a client that was made to connect later. */
  connect(onFault: (error: unknown) => void): void
}

export interface RedisConnecting {
  /** Stands for the connection that is being made; `undefined`: none is, or its client minds it. */
  attempt(): unknown
  /** Ends it, so that the client makes another. */
  giveUp(): void
  /** The server is there again: a client that pauses until its next attempt makes it now. */
  hurry?(): void
}

/** The masters of a cluster, one by one; `server` is the name that `servers()` gives it. */
export interface RedisShards {
  /** Whose slot this key is in; `''`: nobody's that the client knows. */
  serverOf(key: string): string
  /** Asks the master of this key, or is an error at once where that is known to be gone. */
  ping(key: string): Promise<unknown>
  received(server: string): number
}

/** One server that takes writes. What is published through any of a cluster is heard at every node. */
export interface RedisServer {
  /** The same as long as it is the same one: host and port, say. */
  readonly name: string
  publish(channel: string, message: Bytes): Promise<unknown>
  /** Seconds and microseconds. */
  time(): Promise<readonly unknown[]>
  info(section: string): Promise<string>
  /** Breaks the connection to it, so that the client makes a new one. */
  reconnect(): void
}

export interface Subscription {
  readonly channels: readonly string[]
  onMessage(channel: string, message: Bytes): void
  /** `up`: the server has confirmed every channel on the present connection. */
  onState(state: 'up' | 'down'): void
  onFault(error: unknown): void
  /** Runs once after `ms`, keeps no process alive; returns what cancels it. */
  after(ms: number, run: () => void): () => void
  random(): number
}

export interface Subscribed {
  close(): Promise<void>
  /** Subscribes anew: the present connection is dead without knowing it. */
  renew(): void
}

/** Keeps one subscription alive across reconnects until it is closed. */
export type Subscribe = (subscription: Subscription) => Subscribed

export interface RedisConnection {
  readonly commands: RedisCommands
  /** `undefined`: no bus. */
  readonly subscribe: Subscribe | undefined
}
