// Numbers as a person reads them, and durations as the options of breakwater take them.

export function durationText(ms: number): string {
  if (ms === Infinity) return '∞'
  if (ms === 0) return '0'
  if (ms < 0.995) return `${ms.toFixed(2)} ms`
  if (ms < 999.5) return `${Number(ms.toPrecision(3))} ms`
  if (ms < 119_500) return `${Number((ms / 1000).toPrecision(3))} s`
  if (ms < 3_597_000) return `${Number((ms / 60_000).toPrecision(3))} min`
  return `${Number((ms / 3_600_000).toPrecision(3))} h`
}

export function countText(count: number): string {
  if (count === Infinity) return '∞'
  if (count >= 9_999_500) return `${(count / 1e6).toFixed(0)}M`
  if (count >= 999_500) return `${(count / 1e6).toFixed(1)}M`
  if (count >= 9_995) return `${(count / 1000).toFixed(0)}k`
  if (count >= 100 || Number.isInteger(count)) return count.toFixed(0)
  return count >= 10 ? count.toFixed(1) : count.toFixed(2)
}

export function shareText(share: number): string {
  if (share === 0) return '0'
  const percent = share * 100
  if (percent < 0.01) return '<0.01 %'
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(2)} %`
}

/** `'90s'`, `'10m'`: the largest unit that says it in whole numbers. */
export function optionText(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const
  const [unit, size] = units.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1]
  return `'${ms / size}${unit}'`
}
