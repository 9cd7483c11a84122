/**
 * What a definition says of being made ahead, resolved: its schedule, its arguments, what a request
 * that misses gets, and when somebody is to be told. What that asks of the entry's own rules (no
 * jitter, no early refresh, a short lease, a ttl that outlasts a missed refresh) is laid down here.
 */
import { durationMs } from '../core/duration.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { checkNames, type Given, type Level } from '../core/option-names.ts'
import { everySchedule, type Schedule } from '../core/schedule.ts'
import type { Stated } from './entry-rules.ts'

export type OnMiss = 'load' | 'wait' | 'placeholder'

export interface PrecomputeRules {
  readonly schedule: Schedule
  readonly args: readonly unknown[] | (() => unknown)
  readonly onMiss: OnMiss
  readonly placeholder: ((arg: unknown) => unknown) | undefined
  readonly alerts: AlertRules
}

export interface AlertRules {
  /** So many refreshes of a key in a row. */
  readonly failures: number
  /** Not refreshed for so long after it was due. */
  readonly lateMs: number
  /** So long before its end, and no refresh yet. */
  readonly expiringMs: number
  readonly notify: ((alert: never) => unknown) | undefined
}

/** Makes a schedule of a cron expression; throws `INVALID_OPTION` with a sentence. */
export type CronSchedule = (
  expression: string,
  timezone: string | undefined,
  option: string,
) => Schedule

const level: Level = {
  names: new Set(['every', 'cron', 'timezone', 'args', 'onMiss', 'placeholder', 'alerts']),
}
const alertLevel: Level = { names: new Set(['failures', 'late', 'expiring', 'notify']) }

/** Three leases of the shortest life fit in. */
const minEveryMs = 300

export function resolvePrecompute(
  given: unknown,
  option: string,
  cron: CronSchedule,
): PrecomputeRules | undefined {
  if (given === undefined) return undefined
  const options = checkNames(given, level, `${option}.`)
  const { args, onMiss, placeholder } = options
  const schedule = scheduleOf(options, option, cron)
  if (args !== undefined && typeof args !== 'function' && !Array.isArray(args)) {
    throw invalidOption(`${option}.args`, 'a list, or a function that gives one', args)
  }
  if (onMiss !== 'load' && onMiss !== 'wait' && onMiss !== 'placeholder') {
    throw invalidOption(`${option}.onMiss`, "'load', 'wait' or 'placeholder'", onMiss)
  }
  if (onMiss === 'placeholder' && typeof placeholder !== 'function') {
    throw invalidOption(`${option}.placeholder`, 'a function of the argument', placeholder)
  }
  if (onMiss !== 'placeholder' && placeholder !== undefined) {
    throw refuse(`${option}.placeholder: is only used with onMiss 'placeholder', got '${onMiss}'`)
  }
  return Object.freeze({
    schedule,
    // Not the user's own list, which may change while it is gone through.
    args:
      args === undefined ? [undefined] : Array.isArray(args) ? [...args] : (args as () => unknown),
    onMiss,
    placeholder: placeholder as PrecomputeRules['placeholder'],
    alerts: alertsOf(options['alerts'], `${option}.alerts`, schedule),
  })
}

function scheduleOf(options: Given, option: string, cron: CronSchedule): Schedule {
  const { every, cron: expression, timezone } = options
  if ((every === undefined) === (expression === undefined)) {
    throw refuse(
      `${option}: expected either every or cron, got ${every === undefined ? 'neither' : 'both'}`,
    )
  }
  if (every !== undefined) {
    if (timezone !== undefined) throw refuse(`${option}.timezone: is only used with cron`)
    const everyMs = durationMs(every, `${option}.every`)
    if (everyMs >= minEveryMs) return everySchedule(everyMs)
    throw invalidOption(`${option}.every`, `at least ${minEveryMs} ms`, every)
  }
  if (typeof expression !== 'string') {
    throw invalidOption(`${option}.cron`, "text such as '*/9 * * * *'", expression)
  }
  if (timezone !== undefined && (typeof timezone !== 'string' || timezone === '')) {
    throw invalidOption(`${option}.timezone`, "a name such as 'Europe/Berlin'", timezone)
  }
  return cron(expression, timezone, `${option}.cron`)
}

function alertsOf(given: unknown, option: string, { periodMs }: Schedule): AlertRules {
  const options = given === undefined ? {} : checkNames(given, alertLevel, `${option}.`)
  const { failures = 3, notify } = options
  if (typeof failures !== 'number' || !Number.isSafeInteger(failures) || failures < 1) {
    throw invalidOption(`${option}.failures`, 'a whole number greater than 0', failures)
  }
  if (notify !== undefined && typeof notify !== 'function') {
    throw invalidOption(`${option}.notify`, 'a function', notify)
  }
  const duration = (name: 'late' | 'expiring', usual: number): number =>
    options[name] === undefined ? Math.ceil(usual) : durationMs(options[name], `${option}.${name}`)
  return {
    failures,
    lateMs: duration('late', periodMs / 2),
    expiringMs: duration('expiring', periodMs / 4),
    notify: notify as AlertRules['notify'],
  }
}

/** The entry's own rules under it. `given`: what the definition itself says. */
export function underPrecompute(
  stated: Stated,
  given: Given,
  precompute: PrecomputeRules,
  prefix: string,
): Stated {
  const { schedule } = precompute
  const thirdMs = Math.floor(schedule.periodMs / 3)
  if (stated.ttlMs < schedule.twoPeriodsMs) {
    throw refuse(
      `${prefix}ttl: expected at least ${schedule.twoPeriodsMs} ms, so that an entry outlasts a refresh that ` +
        `is missed (${schedule.text}), got ${stated.ttlMs} ms`,
    )
  }
  if (given['jitter'] !== undefined && stated.jitter > 0) {
    throw refuse(`${prefix}jitter: a precomputed entry has none; its refreshes are spread anyway`)
  }
  if (given['earlyRefresh'] !== undefined && stated.earlyRefresh !== undefined) {
    throw refuse(`${prefix}earlyRefresh: a precomputed entry has none; it is refreshed by schedule`)
  }
  if (given['lease'] !== undefined && stated.leaseMs > thirdMs) {
    throw refuse(
      `${prefix}lease: expected at most a third of the period (${thirdMs} ms), got ${stated.leaseMs} ms`,
    )
  }
  return {
    ...stated,
    precompute,
    jitter: 0,
    earlyRefresh: undefined,
    leaseMs: Math.min(stated.leaseMs, thirdMs),
    // What does not exist is looked for at the next refresh, as all else; never more than ttl.
    negativeTtlMs: given['negativeTtl'] === undefined ? Infinity : stated.negativeTtlMs,
  }
}

function refuse(sentence: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', sentence)
}
