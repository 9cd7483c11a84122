/**
 * `text.charCodeAt(at)`, the same however a process looks. Since somebody in it has made a class that
 * extends String (ioredis 6 does), V8 looks each method of a string up anew, and a loop of
 * `charCodeAt` takes seven times as long; a function that is in hand already is called as ever.
 */
const { charCodeAt } = String.prototype

export function charCode(text: string, at: number): number {
  return charCodeAt.call(text, at)
}
