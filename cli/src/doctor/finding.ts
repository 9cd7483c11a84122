/** What a check has found, why that matters to a cache, and what to change. */

/** `unknown`: it could not be asked for, which is no fault of the server's. */
export type Result = 'ok' | 'warning' | 'problem' | 'unknown'

export interface Finding {
  readonly check: CheckName
  /** Of several servers, which one. */
  readonly server?: string
  readonly result: Result
  readonly found: string
  /** Not where it is well. */
  readonly why?: string
  /** Lines of redis.conf, an ACL rule, or a sentence. */
  readonly change?: string
}

export type CheckName =
  | 'version'
  | 'role'
  | 'permissions'
  | 'scripting'
  | 'memory'
  | 'eviction'
  | 'persistence'
  | 'replication'
  | 'latency'
  | 'clock'
  | 'connections'
  | 'output buffers'
  | 'bus'
  | 'cluster'
  | 'sentinel'
  | 'processes'

export function well(check: CheckName, found: string): Finding {
  return { check, result: 'ok', found }
}

export function unknown(check: CheckName, found: string, change?: string): Finding {
  return { check, result: 'unknown', found, ...(change === undefined ? {} : { change }) }
}

export type Ailing = Required<Pick<Finding, 'found' | 'why' | 'change'>>

export function warning(check: CheckName, of: Ailing): Finding {
  return { check, result: 'warning', ...of }
}

export function problem(check: CheckName, of: Ailing): Finding {
  return { check, result: 'problem', ...of }
}
