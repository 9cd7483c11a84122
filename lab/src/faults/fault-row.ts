// What came of a fault: a row that says what was expected and what happened.

export interface FaultRow {
  readonly name: string
  readonly expected: string
  readonly happened: string
  readonly outcome: 'as expected' | 'not as expected' | 'not run'
}

export function row(
  name: string,
  expected: string,
  findings: readonly { readonly text: string; readonly ok: boolean }[],
): FaultRow {
  return {
    name,
    expected,
    happened: findings.map(({ text, ok }) => (ok ? text : `${text} (!)`)).join('; '),
    outcome: findings.every(({ ok }) => ok) ? 'as expected' : 'not as expected',
  }
}
