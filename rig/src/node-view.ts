// What one node says of its cluster (CLUSTER NODES), read.

export interface NodeView {
  readonly id: string
  readonly port: number
  readonly flags: readonly string[]
  /** The id of its master; `undefined`: it is one. */
  readonly masterId: string | undefined
  /** Which of two that claim a slot is right: the later one. */
  readonly epoch: number
  /** First and last of each run. */
  readonly slots: readonly (readonly [number, number])[]
}

/** `07c3… 127.0.0.1:30004@40004 slave,fail e7d1… 0 1426238317239 4 connected 0-5460 [93-<-292f…]` */
export function readNodes(text: string): NodeView[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', address = '', flags = '', master = '-', , , epoch, , ...slots] = line.split(' ')
    return {
      id,
      port: Number(/:(\d+)@/.exec(address)?.[1]),
      flags: flags.split(','),
      masterId: master === '-' ? undefined : master,
      epoch: Number(epoch),
      slots: slots
        .filter((range) => !range.startsWith('['))
        .map((range) => {
          const [first, last = first] = range.split('-').map(Number)
          return [first!, last!] as const
        }),
    }
  })
}
