/**
 * Every metric, once: what it is called, what it says, and where in a snapshot it stands. The
 * adapters (Prometheus, OpenTelemetry) only spell this list in their own words; the dashboard, the
 * alert rules and the documentation are held against it by a test.
 */
import { each, ofCaptures, split, whole, type Metric } from './metric.ts'

// One line each: the words of its labels, and what counts them. `?`: only where it has happened.
// prettier-ignore
export const metrics: readonly Metric[] = [
  split({ name: 'requests_total', otel: 'requests', unit: '{request}', help: 'Calls by what they got, and from which tier' }, ['outcome', 'tier'], {
    'hit memory': 'hitMemory', 'hit store': 'hitStore',
    'stale memory': ({ stale, staleStore }) => stale - staleStore, 'stale store': 'staleStore',
    'loaded source': 'loaded', 'waited store': 'waited', 'fallback none?': 'fallback',
    'placeholder none?': 'placeholder', 'refused none?': 'refused', 
    'failed none': ({ failed, answerErrors, aborted }) => failed - answerErrors - aborted,
    'answer_error none?': 'answerErrors', 'aborted none?': 'aborted',
  }),
  each({ name: 'negative_answers_total', otel: 'answers.negative', unit: '{request}', help: 'Answers that say: it does not exist' }, 'negative'),
  split({ name: 'stale_served_total', otel: 'stale.served', unit: '{request}', help: 'Stale answers by why they were given' }, ['cause'], {
    revalidate: 'staleRevalidate', error: 'staleError', 'timeout?': 'staleTimeout',
    'outage?': 'staleOutage', 'mode?': 'staleMode', 'ahead?': 'staleAhead',
  }),
  split({ name: 'loads_total', otel: 'loads', unit: '{load}', help: 'Runs of the loader by what called for them, and how they ended' }, ['reason', 'result'], {
    'miss ok': 'loadsMiss', 'stale ok': 'loadsStale', 'early ok': 'loadsEarly',
    'forced ok?': 'loadsForced', 'scheduled ok?': 'loadsScheduled', 'verify ok?': 'loadsVerify',
    'miss failed': 'failuresMiss', 'stale failed': 'failuresStale', 'early failed': 'failuresEarly',
    'forced failed?': 'failuresForced', 'scheduled failed?': 'failuresScheduled', 'verify failed?': 'failuresVerify',
  }),
  each({ name: 'loads_saved_total', otel: 'loads.saved', unit: '{load}', help: 'Calls that began no load, since another call, or a refresh, had loaded what they got' },
    ({ hitMemory, hitStore, stale, staleLoading, waited, shared }) =>
      hitMemory + hitStore + stale - staleLoading + waited + shared),
  each({ name: 'refresh_failures_total', otel: 'refresh.failures', unit: '{load}', help: 'Failed loads of a stale or ageing value, or by schedule' },
    ({ failuresStale, failuresEarly, failuresScheduled }) => failuresStale + failuresEarly + failuresScheduled),
  {
    name: 'last_load_timestamp_seconds', otel: 'load.last_success', unit: 's', help: 'When a load of this process last ended well, seconds since 1970',
    type: 'gauge', merge: 'max', labels: ['name'],
    read: ({ totals }, add) => totals.lastLoadAt.forEach((at, name) => add({ name }, at / 1_000)),
  },
  split({ name: 'unleased_loads_total', otel: 'loads.unleased', unit: '{load}', help: 'Loads that ran without a lease, by why' }, ['why'], {
    'waited?': 'unleasedWaited', 'store?': 'unleasedStore', 'nolease?': 'unleasedNolease',
    'uncacheable?': 'unleasedUncacheable', 'private?': 'unleasedPrivate', 'local?': 'unleasedLocal',
  }),
  each({ name: 'loads_rejected_total', otel: 'loads.rejected', unit: '{load}', help: 'Loads that did not begin: the queue was too long, or none are allowed now' }, 'overloaded'),
  each({ name: 'loads_abandoned_total', otel: 'loads.abandoned', unit: '{load}', help: 'Loads that were given up at their deadline and went on' }, 'abandoned'),
  each({ name: 'lock_acquired_total', otel: 'lock.acquired', unit: '{lease}', help: 'Leases that this process was given' }, 'leases'),
  each({ name: 'lock_lost_total', otel: 'lock.lost', unit: '{lease}', help: 'Leases that were lost before their load had ended' }, 'leasesLost'),
  split({ name: 'publishes_total', otel: 'publishes', unit: '{publish}', help: 'Loaded values that the store took, or refused since their lease was no longer current' }, ['result'], {
    ok: 'published', fenced: 'fenced',
  }),
  {
    name: 'invalidations_total', otel: 'invalidations', unit: '{invalidation}', help: 'Changes made by this process: by key (each key), by tag (each call), of all there is (each call)',
    type: 'counter', labels: ['name', 'by'],
    read: ({ counters, totals }, add) => {
      for (const [name, { invalidated }] of counters) add({ name, by: 'key' }, invalidated)
      add({ name: '', by: 'tag' }, totals.invalidatedByTag)
      add({ name: '', by: 'all' }, totals.invalidatedAll)
    },
  },
  whole({ name: 'invalidations_lost_total', otel: 'invalidations.lost', unit: '{time}', help: 'Times that more changes waited for the store than are remembered, and everything was invalidated instead', type: 'counter' }, ({ totals }) => totals.invalidationsLost),
  each({ name: 'unstorable_total', otel: 'values.unstorable', unit: '{value}', help: 'Values that the codec could not keep, or that were too big' }, 'unstorable'),
  each({ name: 'unreadable_total', otel: 'values.unreadable', unit: '{value}', help: 'Frames in the store that could not be read' }, 'unreadable'),
  split({ name: 'store_bytes_total', otel: 'store.io', unit: 'By', help: 'Bytes of frames read from the store and written to it' }, ['direction'], {
    read: 'bytesRead', written: 'bytesWritten',
  }),
  split({ name: 'verified_total', otel: 'verified', unit: '{value}', help: 'Served values that were looked at again, by what came of it' }, ['result'], {
    'same?': 'verifiedSame', 'overtaken?': 'verifiedOvertaken', 'different?': 'verifiedDifferent', 'outdated?': 'verifiedOutdated', 'failed?': 'verifiedFailed',
  }),
  each({ name: 'precompute_alerts_total', otel: 'precompute.alerts', unit: '{alert}', help: 'Alerts that a refresh by schedule is missing' }, 'alerts'),
  {
    name: 'precompute_late', otel: 'precompute.late', unit: '{entry}', help: 'Entries that are made ahead, and late now',
    type: 'gauge', labels: ['name'],
    read: ({ health, counters, labelOf }, add) => {
      const late = new Map([...counters.keys()].map((name) => [name, 0]))
      for (const { name } of health.late) late.set(labelOf(name), (late.get(labelOf(name)) ?? 0) + 1)
      late.forEach((entries, name) => add({ name }, entries))
    },
  },
  whole({ name: 'loads_running', otel: 'loads.running', unit: '{load}', help: 'Loads that run now', type: 'gauge' }, ({ health }) => health.loads.running),
  whole({ name: 'loads_queued', otel: 'loads.queued', unit: '{load}', help: 'Loads that wait for their place now', type: 'gauge' }, ({ health }) => health.loads.queued),
  whole({ name: 'loads_limit', otel: 'loads.limit', unit: '{load}', help: 'Loads that may run at once now', type: 'gauge' }, ({ health }) => health.limit.concurrency),
  whole({ name: 'memory_entries', otel: 'memory.entries', unit: '{entry}', help: 'Entries in memory', type: 'gauge' }, ({ health }) => health.memory.entries),
  whole({ name: 'memory_bytes', otel: 'memory.usage', unit: 'By', help: 'What the entries in memory are reckoned at', type: 'gauge' }, ({ health }) => health.memory.bytes),
  whole({ name: 'memory_evictions_total', otel: 'memory.evictions', unit: '{entry}', help: 'Entries dropped from memory for want of room', type: 'counter' }, ({ health }) => health.memory.evicted),
  whole({ name: 'store_up', otel: 'store.up', unit: '1', help: '1: the store answers, or a part of it does; 0: it does not. Without a store: no series', type: 'gauge', merge: 'min' }, ({ health }) => isUp(health.store)),
  whole({ name: 'breaker_open', otel: 'breaker.open', unit: '{server}', help: 'Servers of the store that are not asked now', type: 'gauge' }, ({ health }) => health.breakersOpen),
  whole({ name: 'breaker_opened_total', otel: 'breaker.opened', unit: '{time}', help: 'Times that the breaker opened', type: 'counter' }, ({ totals }) => totals.breakerOpened),
  {
    name: 'store_errors_total', otel: 'store.errors', unit: '{error}', help: 'Operations of the store that failed or took too long',
    type: 'counter', labels: ['operation'],
    read: ({ totals }, add) => totals.storeErrors.forEach((errors, operation) => add({ operation }, errors)),
  },
  whole({ name: 'bus_up', otel: 'bus.up', unit: '1', help: '1: this process hears what others tell; 0: it does not. Without a bus: no series', type: 'gauge', merge: 'min' }, ({ health }) => isUp(health.bus)),
  whole({ name: 'bus_gaps_total', otel: 'bus.gaps', unit: '{gap}', help: 'Times that this process ceased to hear the others', type: 'counter' }, ({ totals }) => totals.busGaps),
  ofCaptures({ name: 'changes_total', otel: 'changes', unit: '{change}', help: 'Row changes that were taken from the database', type: 'counter' }, ({ changes }) => changes),
  ofCaptures({ name: 'changes_gaps_total', otel: 'changes.gaps', unit: '{gap}', help: 'Times that changes may have been missed, and definitions went as a whole', type: 'counter' }, ({ gaps }) => gaps),
  ofCaptures({ name: 'changes_pending', otel: 'changes.pending', unit: '{change}', help: 'What is captured and still to be changed', type: 'gauge' }, ({ pending }) => pending),
  ofCaptures({ name: 'changes_lag_seconds', otel: 'changes.lag', unit: 's', help: 'How long the oldest of them has waited', type: 'gauge' }, ({ lagMs }) => lagMs / 1_000),
  ofCaptures({ name: 'changes_held_bytes', otel: 'changes.held', unit: 'By', help: "Log that the slot holds on the database's disk", type: 'gauge' }, ({ heldBytes }) => heldBytes),
]

/** An alert on 0 must not be one on a cache that has none by intent. */
function isUp(state: 'none' | 'up' | 'down' | 'silent'): number | undefined {
  return state === 'none' ? undefined : Number(state === 'up')
}

export interface HistogramOf {
  readonly name: string
  readonly otel: string
  readonly unit: string
  readonly help: string
  readonly buckets: readonly number[]
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const ages = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]
const counts = [0, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]

/** Observed as it happens; one series per definition. */
// prettier-ignore
export const histograms = {
  load: { name: 'load_seconds', otel: 'load.duration', unit: 's', help: 'How long the loader took, of loads that ended well', buckets: seconds },
  waited: { name: 'lock_wait_seconds', otel: 'lock.wait.duration', unit: 's', help: 'How long calls waited for the load of another process; those that waited together count once', buckets: seconds },
  stale: { name: 'staleness_seconds', otel: 'staleness', unit: 's', help: 'How long ago a stale answer had ceased to be fresh', buckets: ages },
  callers: { name: 'load_callers', otel: 'load.callers', unit: '{request}', help: 'Calls of this process that waited for a load when it ended', buckets: counts },
  mismatch: { name: 'verify_mismatch_age_seconds', otel: 'verify.mismatch.age', unit: 's', help: 'Served values that the source does not have: how long after the last change of the entry', buckets: ages },
} as const satisfies Record<string, HistogramOf>
