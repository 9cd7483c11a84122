/** `--settle`: a duration as the library takes it. */
import { parseDuration, type Duration } from 'breakwater'
import { usage } from '../ending.ts'

export function settleOf(text: string | undefined): Duration | undefined {
  if (text === undefined) return undefined
  try {
    return parseDuration(/^\d+$/.test(text) ? `${text}ms` : text)
  } catch {
    throw usage(`--settle: expected a duration such as 500 or "2s", got ${JSON.stringify(text)}`)
  }
}
