// How figures read: the same in the terminal, in the report and in sentences.

export function inSeconds(ms: number): string {
  if (!Number.isFinite(ms)) return '?'
  if (ms >= 9950) return `${Math.round(ms / 1000)} s`
  if (ms >= 999.5) return `${(ms / 1000).toFixed(1)} s`
  return ms >= 9.95 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`
}

export function plural(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

export function ratio(value: number): string {
  return value >= 9.95 ? String(Math.round(value)) : value.toFixed(1)
}

export function share(part: number, whole: number): string {
  if (part === 0) return '0'
  const percent = (100 * part) / Math.max(1, whole)
  return `${part.toLocaleString('en')} (${percent < 1 ? '<1' : Math.round(percent)}%)`
}
