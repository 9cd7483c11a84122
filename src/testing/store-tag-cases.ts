/** Changes by tag: epochs, what is remembered of them, and what processes are told. */
import assert from 'node:assert/strict'
import type { BumpRequest, Bumped, EpochNews, EpochsRequest, StoreSession } from '../ports.ts'
import { heard, newToken, timeOf, type StoreCase } from './store-rig.ts'

function bump(session: StoreSession, labels: string[], request: Partial<BumpRequest> = {}) {
  return session.bump({ labels, kind: 'gone', known: 0, settleMs: 0, id: newToken(), ...request })
}

function news(session: StoreSession, request: Partial<EpochsRequest> = {}): Promise<EpochNews> {
  return session.epochs({ since: 0, known: 0, settling: true, labels: [], ...request })
}

const byEpoch = (one: { epoch: number }, two: { epoch: number }) => one.epoch - two.epoch

export const tagCases: readonly StoreCase[] = [
  {
    name: 'state that is not there begins with a floor of now, and stays as it began',
    async run({ open }) {
      const { session } = await open()
      const now = await timeOf(session)
      const first = await news(session)
      assert.ok(first.floor >= Math.floor(now * 1_000), `${first.floor} is of before ${now}`)
      assert.equal(first.highest, first.floor)
      assert.deepEqual([first.marks, first.settling], [[], []])
      assert.deepEqual({ ...(await news(session)), time: 0 }, { ...first, time: 0 })
      const elsewhere = await open('another')
      const ahead = first.highest + 5e9
      assert.ok((await news(elsewhere.session, { known: ahead })).floor > ahead)
    },
  },
  {
    name: 'every change gets a later epoch, later also than what its sender knows',
    async run({ open }) {
      const [a, b] = [await open(), await open()]
      const done: Bumped[] = []
      for (const { session } of [a, b, a]) done.push(await bump(session, ['t']))
      const ahead = done[2]!.epoch + 3e9
      done.push(await bump(b.session, ['u'], { known: ahead }))
      assert.ok(done[3]!.epoch > ahead)
      for (const [n, { previous }] of done.entries()) {
        if (n > 0) assert.equal(previous, done[n - 1]!.epoch)
      }
      const { highest, marks } = await news(a.session)
      assert.equal(highest, done[3]!.epoch)
      assert.deepEqual(marks.toSorted(byEpoch), [
        { kind: 'gone', label: 't', epoch: done[2]!.epoch },
        { kind: 'gone', label: 'u', epoch: done[3]!.epoch },
      ])
    },
  },
  {
    name: 'gone and expired are remembered apart, for labels of any text',
    async run({ open }) {
      const { session } = await open()
      const labels = ['t', '@*', '', 'f', 'line\nbreak', '👍 naïve', '__proto__', 'x'.repeat(512)]
      const gone = await bump(session, labels)
      const expired = await bump(session, labels, { kind: 'expired' })
      const { marks } = await news(session)
      assert.equal(marks.length, 2 * labels.length)
      for (const label of labels) {
        const its = marks.filter((mark) => mark.label === label).toSorted(byEpoch)
        assert.deepEqual(its, [
          { kind: 'gone', label, epoch: gone.epoch },
          { kind: 'expired', label, epoch: expired.epoch },
        ])
      }
    },
  },
  {
    name: 'news are of later than what is known, and single labels are looked up whatever their epoch',
    async run({ open }) {
      const { session } = await open()
      const first = await bump(session, ['old', 'older'])
      const second = await bump(session, ['new'])
      const later = await news(session, { since: first.epoch })
      assert.deepEqual(later.marks, [{ kind: 'gone', label: 'new', epoch: second.epoch }])
      assert.equal(later.since, first.epoch)
      assert.deepEqual((await news(session, { since: second.epoch })).marks, [])
      const asked = await news(session, { since: second.epoch, labels: ['old', 'never'] })
      assert.deepEqual(asked.marks, [{ kind: 'gone', label: 'old', epoch: first.epoch }])
    },
  },
  {
    name: 'what does not fit into one answer is of before the epoch that it names',
    async run({ open }) {
      const { session } = await open()
      const many = Array.from({ length: 500 }, (_, n) => n)
      for (let round = 0; round < 12; round++) {
        await bump(
          session,
          many.map((n) => `tag ${round}/${n}`),
        )
      }
      const { marks, since, highest } = await news(session)
      assert.ok(since > 0 && since < highest)
      const complete = marks.filter(({ epoch }) => epoch > since)
      assert.equal(complete.length % 500, 0, 'of every later epoch, all labels')
      assert.ok(complete.length >= 4_000)
      const rest = await news(session, { since: highest, labels: ['tag 0/0', 'tag 0/499'] })
      assert.equal(rest.marks.length, 2)
    },
  },
  {
    name: 'everyone is told, the sender too, with the epoch and the one before',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const id = newToken()
      const labels = ['a', 'ü', '@*', '']
      const bumped = await bump(mine.session, labels, { kind: 'expired', id })
      const message = { type: 'bumped', id, kind: 'expired', labels, ...bumped }
      assert.deepEqual(await heard(mine), [message])
      assert.deepEqual(await heard(other), [message])
      assert.equal(bumped.until, 0)
    },
  },
  {
    name: 'what settles is remembered until it has, and a little longer',
    async run({ open }) {
      const [mine, other] = [await open(), await open()]
      const before = await timeOf(mine.session)
      const { epoch, until } = await bump(mine.session, ['t'], { settleMs: 300 })
      assert.ok(until >= Math.floor(before) + 300 && until < before + 60_000)
      assert.deepEqual((await news(other.session)).settling, [{ label: 't', until }])
      const known = { since: epoch, settling: false }
      assert.deepEqual((await news(other.session, known)).settling, [])
      const alone = await bump(mine.session, ['key'], { kind: 'settle', settleMs: 50 })
      assert.deepEqual([alone.epoch, alone.previous], [epoch, epoch])
      const { marks, settling } = await news(other.session)
      assert.deepEqual(marks, [{ kind: 'gone', label: 't', epoch }])
      assert.equal(settling.length, 2)
      const told = (await heard(other)).at(-1)
      assert.ok(told?.type === 'bumped' && told.kind === 'settle' && told.until === alone.until)
    },
  },
  {
    name: 'a beat brings the news that it asks for',
    async run({ open }) {
      const { session } = await open()
      const { epoch } = await bump(session, ['t'])
      const asked = { since: 0, known: 0, settling: false, labels: [] }
      const { time, news } = await session.beat(0, asked)
      const brought = await news
      assert.equal(brought?.highest, epoch)
      assert.ok(Math.abs(brought!.time - time) < 60_000)
      assert.equal(await (await session.beat(0)).news, undefined)
    },
  },
  {
    name: 'namespaces count for themselves',
    async run({ open }) {
      const [one, two] = [await open('one'), await open('two')]
      await bump(one.session, ['t'])
      assert.deepEqual((await news(two.session)).marks, [])
      assert.deepEqual(await heard(two), [])
    },
  },
]
