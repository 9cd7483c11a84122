/**
 * What a `get` was told, for the `set` that follows it: Next.js gives both nothing in common but their
 * async context. One context for all handlers, so that what is asked for in a render is known as a
 * part of it. Parts that Next.js runs in a context of their own (bodies of `'use cache'`) are not.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Claim } from './claim.ts'

export interface Asked {
  readonly of: object
  readonly key: string
  readonly outer: Asked | undefined
  readonly depth: number
  /** `alone`: it renders without a claim, and what it stores may be of before a change. */
  render: Claim | 'alone' | undefined
}

const context = new AsyncLocalStorage<Asked>()

/** More of them than there are parts in parts: a loop that asks again and again is no chain. */
const mostDepth = 16

/** To be called in the caller's own step: what it does then, it does in this context. */
export function enterAsked(of: object, key: string): Asked {
  const outer = live(context.getStore())
  const asked: Asked = { of, key, outer, depth: (outer?.depth ?? 0) + 1, render: undefined }
  context.enterWith(asked)
  return asked
}

export function findAsked(of: object, key: string): Asked | undefined {
  let asked = context.getStore()
  while (asked !== undefined && !isFor(asked, of, key)) asked = asked.outer
  return asked
}

/** Is it asked for by a render whose result will be kept? Not by its own: another asks at the same time. */
export function isPart({ of, key, outer }: Asked): boolean {
  for (let asked = outer; asked !== undefined; asked = asked.outer) {
    const { render } = asked
    if (render instanceof Claim && !render.isOver && !isFor(asked, of, key)) return true
  }
  return false
}

function isFor(asked: Asked, of: object, key: string): boolean {
  return asked.of === of && asked.key === key
}

function live(asked: Asked | undefined): Asked | undefined {
  if (asked === undefined || asked.depth >= mostDepth) return undefined
  const { render, outer } = asked
  return render instanceof Claim && render.isOver ? live(outer) : asked
}
