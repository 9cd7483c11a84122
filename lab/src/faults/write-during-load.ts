// A write lands while a query that began before it still runs. That query's answer is wrong already
// when it arrives: the callers who were waiting for it may have it, nobody who comes later, and it
// must never be stored, so that it cannot come back.

import { setTimeout as sleep } from 'node:timers/promises'
import { wallClock } from '../api/messages.ts'
import { plural } from '../report/wording.ts'
import { heardWithinMs } from '../run/figures.ts'
import { writeTo } from '../run/requests.ts'
import { row } from './fault-row.ts'
import { type Fault, underLoad } from './fault.ts'

const name = 'a write invalidates during the query'

export const writeDuringLoad: Fault = {
  name,
  async run(stage) {
    const { extraQueryMs } = stage.plan.faults
    const { seen, fleet, answers } = await underLoad(
      stage,
      {
        name,
        use: 'write-during-load',
        processes: stage.redis === undefined ? 1 : stage.plan.processes,
      },
      async (running) => {
        const holder = await running.nextQuery()
        await sleep(extraQueryMs / 3)
        const writer = running.members.find(({ pid }) => pid !== holder.pid) ?? running.members[0]
        const revision = await writeTo(writer?.port ?? 0, 5000)
        return { revision, doneAt: wallClock(), writerPort: writer?.port, holder }
      },
    )
    const { revision } = seen
    const hot = answers.filter(({ endpoint }) => endpoint === 'hot')
    const failed = hot.filter(({ error }) => error !== undefined).length
    const later = hot.filter(
      ({ intendedAt, port }) =>
        intendedAt > seen.doneAt + (port === seen.writerPort ? 0 : heardWithinMs),
    )
    const old = later.filter((answer) => answer.revision !== revision).length
    const lateAnswer = (seen.holder.endedAt ?? 0) > seen.doneAt
    return row(
      name,
      '2 queries: the overtaken one and one for those who came after the write, who all see the new value',
      [
        {
          text: lateAnswer
            ? 'the old query answered after the write'
            : 'the old query answered before the write, so nothing was at stake',
          ok: lateAnswer && revision !== undefined,
        },
        { text: plural(fleet.queries.length, 'query', 'queries'), ok: fleet.queries.length === 2 },
        {
          text: `${old} of ${later.length} later callers saw the old value`,
          ok: old === 0 && later.length > 0,
        },
        { text: `${failed} failed`, ok: failed === 0 },
      ],
    )
  },
}
