// A recommendation in words, with the code to paste, and what each option of it buys.

import type { Figures } from '../model/figures.ts'
import type { Miss, Option, Recommendation } from '../recommend.ts'
import { countText, durationText, optionText, shareText } from './units.ts'

const targetNames: Readonly<Record<Miss['target'], string>> = {
  failures: 'share of requests that fail',
  p99Ms: 'p99 of a request',
  maxAgeMs: 'age of an answer',
  loadsPerSecond: 'loads per second',
  atOnce: 'loads at once',
}

export function adviceText({ chosen, isMet, without, tried }: Recommendation): string {
  const { rules, figures, misses } = chosen
  const options = [
    `ttl: ${optionText(rules.ttlMs)}`,
    ...(rules.staleWhileRevalidateMs === 0
      ? []
      : [`staleWhileRevalidate: ${optionText(rules.staleWhileRevalidateMs)}`]),
    ...(rules.staleIfErrorMs === 0 ? [] : [`staleIfError: ${optionText(rules.staleIfErrorMs)}`]),
    rules.earlyRefresh === undefined
      ? 'earlyRefresh: false'
      : `earlyRefresh: { beta: ${rules.earlyRefresh.beta}, maxLead: ${rules.earlyRefresh.maxLead} }`,
    `limit: { ${[
      `concurrency: ${rules.limit.places}`,
      `queue: ${optionText(rules.limit.queueMs)}`,
      ...(rules.limit.perSecond === Infinity ? [] : [`perSecond: ${rules.limit.perSecond}`]),
    ].join(', ')} }`,
  ]
  return [
    isMet
      ? `Of ${tried} settings that were tried, these meet every target best.`
      : `None of ${tried} settings that were tried meets every target. These come nearest.`,
    ...misses.map(
      ({ target, wanted, got }) =>
        `  ${targetNames[target]}: wanted ${valueText(target, wanted)}, got ${valueText(target, got)}`,
    ),
    ...(rules.limit.places === 1 && misses.some(({ target }) => target === 'atOnce')
      ? ['  A limit is per process, and 1 is the least: limit.perSecond holds the whole fleet.']
      : []),
    '',
    'const cache = createCache({',
    "  namespace: 'shop',",
    '  store: redisStore({ client }),',
    ...options.map((option) => `  ${option},`),
    '})',
    '',
    `With them: ${summary(figures)}.`,
    ...without.map(({ option, figures: other }) => `Without ${name(option)}: ${summary(other)}.`),
  ].join('\n')
}

function name(option: Option): string {
  return option === 'limit' ? 'this limit' : option
}

function valueText(target: Miss['target'], value: number): string {
  if (target === 'failures') return shareText(value)
  return target === 'p99Ms' || target === 'maxAgeMs' ? durationText(value) : countText(value)
}

function summary(figures: Figures): string {
  return [
    `p99 ${durationText(figures.latency.p99)}`,
    `max ${durationText(figures.latency.max)}`,
    `age ${durationText(figures.age.p50)} (p50), ${durationText(figures.age.max)} (max)`,
    `${countText(figures.loadsPerSecond)} loads/s`,
    `${countText(figures.mostAtOnce)} at once`,
    ...(figures.errorShare === 0 ? [] : [`${shareText(figures.errorShare)} fail`]),
  ].join(', ')
}
