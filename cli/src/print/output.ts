/** Where results go (stdout: text or one JSON document) and where all else goes (stderr). */
import { asJson } from './json.ts'
import { paint, type Paint } from './paint.ts'

export interface Output {
  readonly isJson: boolean
  readonly paint: Paint
  /** The result, in the form that was asked for. */
  result(json: unknown, text: () => string): void
  /** What is not the result. */
  note(text: string): void
}

export function output({ json, colour }: { json: boolean; colour: boolean }): Output {
  return {
    isJson: json,
    paint: paint(colour),
    result: (value, text) => {
      process.stdout.write(`${json ? asJson(value) : text()}\n`)
    },
    note: (text) => {
      process.stderr.write(`${text}\n`)
    },
  }
}
