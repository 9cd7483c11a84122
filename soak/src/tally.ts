/** Counts what came of requests, and tells what may happen from what may not. */
export class Tally {
  requests = 0
  longestMs = 0
  latestMs = 0
  readonly outcomes: Record<string, number> = {}
  readonly expected: Record<string, number> = {}
  readonly errors: string[] = []

  /** A read that must be answered, unless its caller left. */
  async read(run: () => Promise<string>): Promise<void> {
    const began = performance.now()
    try {
      add(this.outcomes, await run())
    } catch (error) {
      if (codeOf(error) === 'AbortError') add(this.expected, 'left')
      else this.failed(error)
    } finally {
      this.longestMs = Math.max(this.longestMs, performance.now() - began)
    }
  }

  /** A read whose loader may fail or hang. */
  async failing(run: () => Promise<string>): Promise<void> {
    try {
      add(this.outcomes, await run())
    } catch (error) {
      const code = codeOf(error)
      const may = ['E_SOURCE', 'LOAD_TIMEOUT', 'LOAD_FAILED_ELSEWHERE', 'WAIT_TIMEOUT']
      if (may.includes(code)) add(this.expected, code)
      else this.failed(error)
    }
  }

  /** A change, which is refused where Redis does not take it. */
  async change(run: () => Promise<void>): Promise<void> {
    try {
      await run()
      add(this.outcomes, 'changed')
    } catch (error) {
      const code = codeOf(error)
      if (code === 'STORE_UNAVAILABLE') add(this.expected, code)
      else this.failed(error)
    }
  }

  failed(error: unknown): void {
    this.errors.push(String((error as Error)?.stack ?? error).slice(0, 400))
  }
}

function add(to: Record<string, number>, name: string): void {
  to[name] = (to[name] ?? 0) + 1
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}
