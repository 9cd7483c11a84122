// What the processes of a fleet have reported, gathered on one time line: the queries and pool
// samples from which the figures are made, and who does what at this moment.

import { type ApiReport, type StoreHealth, wallClock } from '../api/messages.ts'

export interface QueryRun {
  readonly pid: number
  readonly beganAt: number
  /** Why breakwater loaded it, where the contender says. */
  readonly reason: string | undefined
  endedAt: number | undefined
}

export interface PoolSample {
  readonly pid: number
  readonly at: number
  readonly waiting: number
}

export interface ProcessNow {
  waiting: number
  /** Since when it has held leases or locks; the latest last. */
  readonly leases: number[]
  health: StoreHealth | undefined
}

/** More than any run of the lab has; free play may go on for days. */
const mostKept = 20_000

export class FleetRecord {
  readonly queries: QueryRun[] = []
  readonly pool: PoolSample[] = []
  readonly processes = new Map<number, ProcessNow>()
  readonly #open = new Map<string, QueryRun>()
  readonly #queryWatchers: ((query: QueryRun) => void)[] = []
  readonly #leaseWatchers: ((pid: number) => void)[] = []
  readonly #gone = new Set<number>()
  #total = 0

  get running(): number {
    return this.#open.size
  }

  get total(): number {
    return this.#total
  }

  nextQuery(): Promise<QueryRun> {
    return new Promise((tell) => this.#queryWatchers.push(tell))
  }

  nextLease(): Promise<number> {
    return new Promise((tell) => this.#leaseWatchers.push(tell))
  }

  take(pid: number, report: ApiReport): void {
    this.#take(pid, report)
    if (this.#gone.has(pid)) this.ended(pid) // its last words may come after its end
  }

  #take(pid: number, report: ApiReport): void {
    const now = this.#processOf(pid)
    switch (report.kind) {
      case 'query-began': {
        const query: QueryRun = {
          pid,
          beganAt: report.at,
          reason: report.reason,
          endedAt: undefined,
        }
        this.#total++
        keep(this.queries, query)
        this.#open.set(`${pid}:${report.query}`, query)
        for (const tell of this.#queryWatchers.splice(0)) tell(query)
        return
      }
      case 'query-ended': {
        const query = this.#open.get(`${pid}:${report.query}`)
        if (query !== undefined) query.endedAt = report.at
        this.#open.delete(`${pid}:${report.query}`)
        return
      }
      case 'pool':
        now.waiting = report.waiting
        keep(this.pool, { pid, at: report.at, waiting: report.waiting })
        return
      case 'lease':
        if (report.change === 'released') return void now.leases.shift()
        now.leases.push(report.at)
        for (const tell of this.#leaseWatchers.splice(0)) tell(pid)
        return
      case 'health':
        now.health = report.health
        return
      case 'listening':
      case 'failed':
    }
  }

  /** What it was running when it died ends for us here; the database may go on a little. */
  ended(pid: number): void {
    this.#gone.add(pid)
    this.processes.delete(pid)
    for (const [id, query] of this.#open) {
      if (query.pid !== pid) continue
      query.endedAt = wallClock()
      this.#open.delete(id)
    }
  }

  #processOf(pid: number): ProcessNow {
    const known = this.processes.get(pid)
    if (known !== undefined) return known
    const made = { waiting: 0, leases: [], health: undefined }
    this.processes.set(pid, made)
    return made
  }
}

function keep<Item>(list: Item[], item: Item): void {
  list.push(item)
  if (list.length > mostKept) list.splice(0, mostKept / 2)
}
