/** What things are called: the path to what a codec cannot keep (`$.prices.get("EUR")`), and classes. */
import { types } from 'node:util'

/** A property, an index, or a call that leads further into a Map, a Set or a toJSON. */
export type Step = string | number | { readonly call: string }

export function pathTo(steps: readonly Step[]): string {
  return `$${steps.map(written).join('')}`
}

/** `Float64Array`, also for a subclass; its own name is no guide. */
export function viewName(view: ArrayBufferView): string {
  if (types.isDataView(view)) return 'DataView'
  return String(Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag, view))
}

export function className(value: object): string {
  const { constructor } = value
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'object'
}

function written(step: Step): string {
  if (typeof step === 'number') return `[${step}]`
  if (typeof step === 'object') return `.${step.call}`
  return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${shown(step)}]`
}

export function shown(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

export { messageOf } from '../core/errors.ts'

export function enumerableSymbols(record: object): symbol[] {
  return Object.getOwnPropertySymbols(record).filter((symbol) =>
    Object.prototype.propertyIsEnumerable.call(record, symbol),
  )
}
