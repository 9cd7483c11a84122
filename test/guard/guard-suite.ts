// What every guard does, whatever it is made of: cases for each implementation and each client.

import { expect, it } from 'vitest'
import type { GuardInfo } from '../../src/guard/guard-info.ts'
import type { GuardPort } from '../../src/ports.ts'
import { sleep, until } from '../support/open-session.ts'
import { freshName } from '../support/quick-guard.ts'

export interface TestGuard<Arg = unknown> extends GuardPort<Arg> {
  info(): GuardInfo
}

export interface GuardRig {
  /** As of another process, where there are others; of a filter of its own unless a name is given. */
  open(options?: { key?: (arg: never) => unknown; name?: string }): Promise<TestGuard>
  /** A copy hears a little later of what other processes add. */
  readonly lagMs?: number
  readonly kind: GuardInfo['kind']
}

export async function mayExist(guard: GuardPort, arg: unknown): Promise<boolean> {
  return guard.know(arg) ?? guard.ask(arg)
}

export const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `id-${from + n}`)

export async function refusedOf(guard: GuardPort, args: readonly unknown[]): Promise<unknown[]> {
  const answers = await Promise.all(args.map((arg) => mayExist(guard, arg)))
  return args.filter((_, n) => answers[n] === false)
}

/** Ready means that it refuses; a copy may still be on its way. */
export function isReady(guard: TestGuard): Promise<void> {
  return until(
    () => guard.info().state === 'ready',
    () => JSON.stringify(guard.info()),
  )
}

async function* slowly<T>(items: Iterable<T>, ms = 1): AsyncGenerator<T> {
  for (const item of items) {
    await sleep(ms)
    yield item
  }
}

export function guardCases(rig: () => GuardRig): void {
  it('refuses nothing before it was fed', async () => {
    const guard = await rig().open()
    expect(await refusedOf(guard, ids(0, 50))).toEqual([])
    expect(guard.info()).toMatchObject({ state: 'unbuilt', added: 0, errorRate: 1 })
  })

  it('refuses what was not in a rebuild, and nothing that was', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 1_000))
    await isReady(guard)
    expect(await refusedOf(guard, ids(0, 1_000))).toEqual([])
    expect((await refusedOf(guard, ids(1_000, 2_000))).length).toBeGreaterThan(950)
    expect(guard.info()).toMatchObject({ kind: rig().kind, state: 'ready', capacity: 1_000 })
  })

  it('takes the first addMany for the whole set, when it is done', async () => {
    const guard = await rig().open()
    const states: unknown[] = []
    const fed = guard.addMany(
      (async function* () {
        for (const id of ids(0, 200)) {
          if (id.endsWith('50')) states.push(await refusedOf(guard, ['nothing', id]))
          yield id
        }
      })(),
    )
    expect(await refusedOf(guard, ids(900, 950))).toEqual([])
    await fed
    await isReady(guard)
    expect(states).toEqual([[], []])
    expect(await refusedOf(guard, ids(0, 200))).toEqual([])
    expect((await refusedOf(guard, ids(1_000, 1_100))).length).toBeGreaterThan(80)
  })

  it('adds to what is there', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 100))
    await isReady(guard)
    await guard.add('new')
    await guard.addMany(slowly(ids(100, 110)))
    expect(await refusedOf(guard, ['new', ...ids(0, 110)])).toEqual([])
    expect((await refusedOf(guard, ids(1_000, 1_100))).length).toBeGreaterThan(80)
  })

  it('keeps in a rebuild what is added meanwhile, and what was added just before', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 100))
    await guard.add('before')
    const rebuilt = guard.rebuild(slowly(ids(0, 100), 2))
    await guard.add('meanwhile')
    await sleep(100)
    await guard.add('later')
    await rebuilt
    await isReady(guard)
    expect(await refusedOf(guard, ['before', 'meanwhile', 'later', ...ids(0, 100)])).toEqual([])
  })

  it('forgets in a rebuild what does not exist any more', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 500))
    await guard.rebuild(ids(500, 1_000))
    await isReady(guard)
    expect((await refusedOf(guard, ids(0, 500))).length).toBeGreaterThan(450)
    expect(await refusedOf(guard, ids(500, 1_000))).toEqual([])
  })

  it('stays as it was when what a rebuild reads throws, and rejects with that very error', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 100))
    const error = new Error('the database is gone')
    const broken = (async function* () {
      yield 'id-500'
      await sleep(1)
      throw error
    })()
    await expect(guard.rebuild(broken)).rejects.toBe(error)
    expect(await refusedOf(guard, ids(0, 100))).toEqual([])
    expect((await refusedOf(guard, ids(600, 700))).length).toBeGreaterThan(80)
    await guard.rebuild(ids(0, 50))
    expect(guard.info().state).toBe('ready')
  })

  it('does two rebuilds at once one after the other', async () => {
    const guard = await rig().open()
    await Promise.all([guard.rebuild(slowly(ids(0, 20))), guard.rebuild(ids(20, 40))])
    await isReady(guard)
    expect(await refusedOf(guard, ids(20, 40))).toEqual([])
    expect((await refusedOf(guard, ids(0, 20))).length).toBeGreaterThan(15)
  })

  it('is not fed by an addMany of nothing, and refuses all after a rebuild of nothing', async () => {
    const guard = await rig().open()
    await guard.addMany([])
    expect(guard.info().state).toBe('unbuilt')
    await guard.rebuild([])
    await isReady(guard)
    expect(await refusedOf(guard, ids(0, 100))).toHaveLength(100)
  })

  it('tells arguments of all kinds apart, and hashes what `key` makes of them', async () => {
    const args = [
      '1',
      1,
      1n,
      true,
      'true',
      null,
      'null',
      { a: 1 },
      ['a', 1],
      new Date(0),
      'ö😀',
      '',
    ]
    const guard = await rig().open()
    await guard.rebuild(args)
    await isReady(guard)
    expect(await refusedOf(guard, args)).toEqual([])
    expect((await refusedOf(guard, [2, '2', false, { a: 2 }, ['a', 2], 'null '])).length).toBe(6)
    const byId = await rig().open({ key: (user: { id: number }) => user.id })
    await byId.rebuild([{ id: 1, name: 'x' }])
    await isReady(byId)
    expect(
      await refusedOf(byId, [
        { id: 1, name: 'y' },
        { id: 2, name: 'x' },
      ]),
    ).toHaveLength(1)
  })

  it('lets through what has no key, and refuses to add it', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 10))
    await isReady(guard)
    expect([guard.know(NaN), await guard.ask(() => {})]).toEqual([true, true])
    for (const adding of [guard.add(NaN), guard.addMany([NaN]), guard.rebuild([NaN])]) {
      await expect(adding).rejects.toMatchObject({ code: 'INVALID_KEY' })
    }
    expect(await refusedOf(guard, ids(0, 10))).toEqual([])
  })

  it('tells that more is in it than it is made for, and never refuses any of it', async () => {
    const guard = await rig().open()
    await guard.rebuild(ids(0, 4_000))
    await isReady(guard)
    expect(await refusedOf(guard, ids(0, 4_000))).toEqual([])
    const { errorRate, added, kind } = guard.info()
    if (kind === 'bloom') return // its filters grow
    expect(errorRate).toBeGreaterThan(0.3)
    expect(added).toBeGreaterThan(2_500)
  })
}

/** Beyond that, of guards that processes share. `open` with one name is one filter. */
export function sharedGuardCases(rig: () => GuardRig): void {
  const two = async (name: string) =>
    [await rig().open({ name }), await rig().open({ name })] as const
  const next = freshName

  it('is not made by an add alone: what is absent may be lost', async () => {
    const [a, b] = await two(next())
    await a.add('id-1')
    expect(await refusedOf(b, ids(0, 20))).toEqual([])
    expect(b.info().state).toBe('unbuilt')
    await b.rebuild(ids(5, 20))
    await isReady(a)
    await sleep(rig().lagMs ?? 0)
    // What was added lately is added to what is built.
    expect(await refusedOf(b, ids(1, 2))).toEqual([])
  })

  it('is the same in every process', async () => {
    const [a, b] = await two(next())
    await a.rebuild(ids(0, 500))
    await isReady(b)
    await until(() => b.info().added > 0)
    expect(await refusedOf(b, ids(0, 500))).toEqual([])
    expect((await refusedOf(b, ids(1_000, 1_500))).length).toBeGreaterThan(450)
    await a.add('new')
    await sleep(rig().lagMs ?? 0)
    expect(await refusedOf(b, ['new'])).toEqual([])
  })

  it('adds of one process reach what another builds', async () => {
    const [a, b] = await two(next())
    await a.rebuild(ids(0, 100))
    const rebuilt = b.rebuild(slowly(ids(0, 100), 5))
    for (let n = 0; n < 40; n += 1) {
      await a.add(`new-${n}`)
      await sleep(15)
    }
    await rebuilt
    await sleep(rig().lagMs ?? 0)
    const added = Array.from({ length: 40 }, (_, n) => `new-${n}`)
    expect(await refusedOf(b, added)).toEqual([])
    expect(await refusedOf(a, added)).toEqual([])
  })

  it('is built by one process at a time', async () => {
    const [a, b] = await two(next())
    await Promise.all([a.rebuild(slowly(ids(0, 50))), b.rebuild(slowly(ids(0, 60)))])
    await isReady(a)
    expect(await refusedOf(a, ids(0, 50))).toEqual([])
    await Promise.all([a.addMany(ids(60, 70)), b.addMany(ids(70, 80))])
    await sleep(rig().lagMs ?? 0)
    expect(await refusedOf(b, ids(60, 80))).toEqual([])
  })

  it('keeps the size that it was built with until it is built anew', async () => {
    const name = next()
    const [a, b] = await two(name)
    await a.rebuild(ids(0, 10))
    await isReady(b)
    expect(b.info().capacity).toBe(1_000)
  })
}
