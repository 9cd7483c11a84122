/** What is fed to a guard, in batches, whatever it comes from; the event loop gets its turns. */

export async function* batchesOf<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
): AsyncGenerator<T[], void, undefined> {
  let batch: T[] = []
  if (Symbol.asyncIterator in items) {
    for await (const item of items) {
      if (batch.push(item) < most) continue
      yield batch
      batch = []
    }
  } else {
    for (const item of items) {
      if (batch.push(item) < most) continue
      yield batch
      batch = []
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  if (batch.length > 0) yield batch
}
