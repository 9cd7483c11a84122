// Several callers at once, each doing one operation after the other; operation n has number n.

export async function lanes(
  count: number,
  operations: number,
  operation: (at: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < operations) {
      const at = next
      next += 1
      await operation(at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, operations) }, lane))
}
