/**
 * What a cache has promised to this process: once an own change of a key has returned, or was
 * refused by Redis and applied here, no later call gets what was there before it. A version in the
 * source only grows, so an answer breaks a promise when its version is behind.
 */
export class Promises {
  readonly #floors = new Map<string, number>()
  readonly broken: string[] = []

  made(name: string, version: number): void {
    this.#floors.set(name, Math.max(version, this.#floors.get(name) ?? 0))
  }

  /** Taken when a call begins; given what it returned. */
  expects(name: string): (version: number) => void {
    const floor = this.#floors.get(name) ?? 0
    return (version) => {
      if (version < floor) this.broken.push(`${name}: ${version} after ${floor}`)
    }
  }

  names(): string[] {
    return [...this.#floors.keys()]
  }
}
