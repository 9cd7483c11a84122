// The child's side of `ask`: reads its plan from the command line, tells its answer, ends with its
// parent. What it cannot do it tells as a reason, so that the parent can print it.

export type Answer<Result> = { readonly done: Result } | { readonly failed: string }

export async function answer<Plan, Result>(work: (plan: Plan) => Promise<Result>): Promise<void> {
  process.on('disconnect', () => process.exit())
  // A background failure of a contender is a finding about it, not the end of the measurement.
  process.on('unhandledRejection', (reason) => console.error('unhandled rejection:', reason))
  let told: Answer<Result>
  try {
    told = { done: await work(JSON.parse(process.argv[2] ?? '') as Plan) }
  } catch (error) {
    told = { failed: error instanceof Error ? error.message : String(error) }
  }
  process.send?.(told)
}
