/**
 * When this process last proved, for each master, that it hears what is published there. In a
 * cluster a message comes to the node of our subscription over its master's own link, and each of
 * these links can be cut alone, so that one master's messages are lost and nothing tells.
 *
 * Invariant: what was published through any known master before `oldest` has been heard, unless
 * `heard` has told that some of it may be lost.
 */
interface Contact {
  /** When the latest beat that was heard through it had been sent, and its number. */
  at: number
  n: number
  /** When the first beat that it took since, and that was not heard, had been sent. */
  unheardSince: number | undefined
}

/** From the first to the last of three beats; of two, where nothing in memory is believed anyway. */
const silentMs = { hearing: 3_500, deaf: 1_500 }
/** Until the next three have been sent: what is done about a silence needs its time. */
const patienceMs = 5_500

export class Contacts {
  readonly #contacts = new Map<string, Contact>()
  #masters: readonly string[] = []
  /** The beat that told of these masters. */
  #toldBy = 0
  /** When the last beat had been sent that made it `silent`. */
  #silentAt = -Infinity

  /** -Infinity: of one of them nothing was heard yet, or none is known. */
  get oldest(): number {
    if (this.#masters.length === 0) return -Infinity
    return Math.min(...this.#masters.map((name) => this.#contacts.get(name)?.at ?? -Infinity))
  }

  /**
   * These are the masters now: whoever is none any more counts no more. A new one has as long to
   * prove itself as the one that was heard longest ago: never longer than 5 s after it was none.
   */
  know(masters: readonly string[], n: number): void {
    if (n < this.#toldBy) return
    const at = this.oldest
    this.#toldBy = n
    this.#masters = masters
    for (const name of this.#contacts.keys()) {
      if (!masters.includes(name)) this.#contacts.delete(name)
    }
    for (const name of masters) {
      if (this.#contacts.has(name)) continue
      this.#contacts.set(name, { at, n: n - 1, unheardSince: undefined })
    }
  }

  /** `missed`: a beat before it was not, and nor was what others have published meanwhile. */
  heard(n: number, through: string, sentAt: number): 'missed' | 'next' {
    const contact = this.#contacts.get(through)
    // Sent again by a client that did not know that it had arrived.
    if (contact !== undefined && n <= contact.n) return 'next'
    this.#contacts.set(through, { at: sentAt, n, unheardSince: undefined })
    if (contact === undefined || n === contact.n + 1) return 'next'
    // One server's messages come over its own connection, which loses none unless it breaks.
    return this.#masters.length > 1 ? 'missed' : 'next'
  }

  /** A master has taken a beat. `silent`: and those before it, and none of them was heard. */
  took(n: number, through: string, sentAt: number, isDeaf: boolean): 'silent' | 'well' {
    const contact = this.#contacts.get(through)
    if (contact === undefined || n <= contact.n) return 'well'
    contact.unheardSince ??= sentAt
    const { deaf, hearing } = silentMs
    if (sentAt - contact.unheardSince < (isDeaf ? deaf : hearing)) return 'well'
    if (sentAt - this.#silentAt < patienceMs) return 'well'
    this.#silentAt = sentAt
    return 'silent'
  }

  /** Another subscription: nothing was heard in it. */
  forget(): void {
    this.#contacts.clear()
    this.#masters = []
  }
}
