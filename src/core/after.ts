/** Goes on at once where the value is there already, and else when it comes: no turn is lost. */
export function after<T, U>(
  value: T | Promise<T>,
  goOn: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}
