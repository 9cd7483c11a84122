// The lab's live page in a real browser: what it shows, when it ends, who may look and press.

import { request } from 'node:http'
import { expect, test } from 'vitest'
import { beginScene, endContender, now } from '../support/scripted-lab.ts'
import { noBrowser, viewedLab } from '../support/viewed-lab.ts'

const viewed = viewedLab()

test.skipIf(noBrowser)('a run is shown while it happens, contender beside contender', async () => {
  const plain = beginScene(viewed.live, 'plain', 'no protection')
  for (let query = 1; query <= 20; query++) {
    plain.report(1, { kind: 'query-began', query, at: now(), reason: undefined })
  }
  plain.load({ sent: 0, done: 0, p95: 1 })
  plain.load({ sent: 40, done: 10, p95: 2500 })
  await viewed.shows('#phase', /no protection .* of 60.0 s/)
  await viewed.shows('#tiles', /20 running.*20 in all/s)
  await viewed.shows('#tiles', /Hot endpoint, p952.5 s/)
  await viewed.shows('#tiles', /160 per second/)
  await viewed.shows('#tiles', /Callers waiting60/)
  await viewed.shows('#panel-running-plain', /peak 20/)
  await viewed.shows('#panel-running-breakwater', /to come/)

  plain.load({ sent: 90, done: 20, p95: 2600 })
  await viewed.shows('#tiles', /Callers waiting140/) // what comes later arrives without a reload

  endContender(viewed.live, 'plain', 20)
  const ours = beginScene(viewed.live, 'breakwater', 'breakwater')
  ours.report(3, { kind: 'lease', change: 'taken', at: now() - 300 })
  for (const pid of [1, 2, 3, 4]) {
    ours.report(pid, { kind: 'health', health: { store: 'up', bus: 'up' } })
  }
  await viewed.shows('#tiles', /Leaseprocess 3/)
  await viewed.shows('#tiles', /Breakerclosed in 4 processes/)
  await viewed.shows('#tiles', /Busheard by 4 processes/)
  await viewed.shows('#processes', /process 3 queries/)
  ours.report(2, { kind: 'health', health: { store: 'down', bus: 'silent' } })
  await viewed.shows('#tiles', /Breakeropen in process 2/)
  await viewed.shows('#tiles', /Bussilent in process 2/)
  await viewed.shows('#panel-running-plain', /peak 20/) // who has ended remains
  await viewed.shows('#figures', /no protection/)
})

test.skipIf(noBrowser)(
  'faults come with what was expected and what happened, and the end is told',
  async () => {
    viewed.live.record.faultBegan('the holder of the lease is killed')
    await viewed.shows('#faults', /the holder of the lease is killed running now/)
    await viewed.shows('#faults', /a write <b>invalidates<\/b> to come/) // as text
    viewed.live.record.faultEnded({
      name: 'the holder of the lease is killed',
      expected: '2 queries in all',
      happened: '2 queries; 0 failed',
      outcome: 'as expected',
    })
    await viewed.shows(
      '#faults',
      /as expected\s+expected 2 queries in all\s*happened 2 queries; 0 failed/,
    )

    viewed.live.record.ended('The run has ended. Its report: report.html')
    await viewed.server.close()
    await viewed.shows('#phase', 'The run has ended. Its report: report.html')
    await viewed.shows('#faults', /2 queries; 0 failed/) // all is still there
    await viewed.shows('#log', /the holder of the lease is killed: as expected/)
    expect(await viewed.page.isVisible('#lost')).toBe(false)
    expect(viewed.trouble).toEqual([])
  },
)

test.skipIf(noBrowser)('who comes late sees all that there was', async () => {
  beginScene(viewed.live, 'plain', 'no protection')
  endContender(viewed.live, 'plain', 12)
  beginScene(viewed.live, 'lock-poll', 'lock, 50 ms poll')
  const late = await viewed.look()
  await viewed.shows('#log', /no protection: under load.*plain has ended.*lock, 50 ms poll/s, late)
  await viewed.shows('#panel-running-plain', /peak 12/, late)
  await late.close()
})

test.skipIf(noBrowser)(
  'the page asks nobody else for anything, and has nothing to complain of',
  async () => {
    beginScene(viewed.live, 'plain', 'no protection').load({ sent: 2, done: 1, p95: 3 })
    await viewed.shows('#panel-hot-plain', /peak/)
    await viewed.page.hover('#panel-hot-plain svg')
    expect([...viewed.hosts]).toEqual([new URL(viewed.server.url).host])
    expect(viewed.trouble).toEqual([])
    // And could not, if it wanted to.
    const outcome = await viewed.page.evaluate(() =>
      fetch('http://127.0.0.1:1/').then(
        () => 'asked',
        (error: Error) => error.name,
      ),
    )
    expect(outcome).toBe('TypeError')
    expect(viewed.trouble.join()).toMatch(/Content Security Policy/)
  },
)

test('another site can neither look nor press', async () => {
  beginScene(viewed.live, 'breakwater', 'breakwater')
  const { port, pathname } = new URL(viewed.server.url)
  const ask = (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
      asked.once('error', reject).end()
    })
  const button = `${pathname}press/kill-redis`
  const foreign = { origin: 'http://evil.example' }
  expect(await ask(pathname, {})).toBe(200)
  expect(await ask('/', {})).toBe(403)
  expect(await ask('/press/kill-redis', {}, 'POST')).toBe(403)
  expect(await ask(pathname, { host: `evil.example:${port}` })).toBe(403)
  expect(await ask(`${pathname}stream`, { host: `evil.example:${port}` })).toBe(403)
  expect(await ask(button, foreign, 'POST')).toBe(403)
  expect(await ask(button, { 'sec-fetch-site': 'cross-site' }, 'POST')).toBe(403)
  expect(await ask(`${pathname}press/anything`, {}, 'POST')).toBe(404)
  expect(viewed.live.controls.disturbances).toEqual([])
})
