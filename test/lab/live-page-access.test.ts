// The lab's live page for those who have no mouse, do not see it or not well, or hold it in a hand.

import { expect, test } from 'vitest'
import { backgroundOf, cutOff, focusOf, lowContrast, outlineOf } from '../support/page-audit.ts'
import { beginScene, endContender, now } from '../support/scripted-lab.ts'
import { noBrowser, viewedLab } from '../support/viewed-lab.ts'

const viewed = viewedLab()

test.skipIf(noBrowser)('everything can be done by keyboard', async () => {
  const scene = beginScene(viewed.live, 'breakwater', 'breakwater')
  scene.report(2, { kind: 'lease', change: 'taken', at: now() })
  await viewed.page.waitForSelector('[data-action=kill-redis][aria-disabled=false]')
  const reached: string[] = []
  const press = async (key: string): Promise<void> => {
    await viewed.page.keyboard.press(key)
    if (key === 'Tab') reached.push(await focusOf(viewed.page))
  }
  for (let tab = 0; tab < 3; tab++) await press('Tab')
  const pid = viewed.redis.pid
  await viewed.page.keyboard.press('Enter')
  await viewed.shows('#log', /by a button: Kill Redis/)
  await viewed.shows('#why-freeze-redis', 'Redis is away already')
  await viewed.page.waitForSelector('[data-action=kill-redis][aria-disabled=true]')
  await press('Tab')
  await viewed.page.keyboard.press('Enter')
  await viewed.shows('#said', 'Not now: Redis is away already')
  await press('Tab')
  await viewed.page.keyboard.press('Space')
  await viewed.shows('#log', /process 2 is killed in mid-query/)
  await viewed.shows('#log', /process 2 is back/)
  expect(scene.killed).toEqual([2])
  expect(scene.ports).toEqual([9012])
  for (let tab = 0; tab < 3; tab++) await press('Tab')

  expect(reached).toEqual([
    'skip solid',
    'theme solid',
    'kill-redis solid',
    'freeze-redis solid',
    'kill-holder solid',
    'slow-database solid',
    'write solid',
    'log solid',
  ])
  await viewed.live.controls.settle()
  await viewed.shows('#log', /Redis is back, empty/)
  expect(viewed.redis.pid).not.toBe(pid)
  expect(await viewed.redis.ask('PING')).toBe('PONG')
  expect(viewed.live.controls.disturbances.map(({ action }) => action)).toEqual([
    'kill-redis',
    'kill-holder',
  ])
})

test.skipIf(noBrowser)('a screen reader finds its way, and is not told each figure', async () => {
  beginScene(viewed.live, 'plain', 'no protection').load({ sent: 2, done: 1, p95: 3 })
  await viewed.shows('#panel-hot-plain', /peak/)
  const outline = await outlineOf(viewed.page)
  expect(outline).toMatchObject({ language: 'en', mains: 1, nameless: [] })
  expect(outline.title).not.toBe('')
  expect(outline.headings.filter((heading) => heading.startsWith('1 '))).toHaveLength(1)
  expect(outline.headings.filter((heading) => heading.startsWith('2 '))).toEqual([
    '2 Now',
    '2 Break something',
    '2 Over time, side by side',
    '2 What goes wrong, with breakwater',
    '2 Figures',
  ])
  const levels = outline.headings.map((heading) => Number(heading[0]))
  levels.forEach((level, index) => expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1))
  expect(outline.liveRegions).toEqual(['said', 'log'])
  const described = await viewed.page.getAttribute('[data-action=kill-holder]', 'aria-describedby')
  expect(described).toBe('explain-kill-holder why-kill-holder why-all')
  await viewed.shows('#why-kill-holder', 'without protection nobody holds a lease')
  await viewed.shows('#why-all', /^$/)
  viewed.live.record.sceneEnded() // then no button can be pressed, which is said once
  await viewed.shows('#why-all', 'Not now: nothing is under load just now')
  await viewed.shows('#why-kill-holder', /^$/)
})

test.skipIf(noBrowser).each(['light', 'dark'] as const)(
  'text stands out in %s',
  async (colorScheme) => {
    const scene = beginScene(viewed.live, 'plain', 'no protection')
    scene.load({ sent: 2, done: 1, p95: 3 })
    endContender(viewed.live, 'plain', 3)
    beginScene(viewed.live, 'lock-poll', 'lock')
    await viewed.page.emulateMedia({ colorScheme })
    await viewed.shows('#figures', /no protection/)
    expect(await lowContrast(viewed.page)).toEqual([])
    const background = await backgroundOf(viewed.page)
    await viewed.page.click('#theme')
    await expect.poll(() => backgroundOf(viewed.page)).not.toBe(background)
    expect(await lowContrast(viewed.page)).toEqual([])
  },
)

test.skipIf(noBrowser).each([
  ['on a phone of 360 pixels', { viewport: { width: 360, height: 700 } }],
  ['at 200 % zoom', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
])('nothing is cut off %s', async (_, options) => {
  beginScene(viewed.live, 'plain', 'no protection')
  endContender(viewed.live, 'plain', 12)
  const narrow = await viewed.look(options)
  await viewed.shows('#figures', /no protection/, narrow)
  expect(await cutOff(narrow)).toEqual({ page: 0, buttons: 0 })
  await narrow.close()
})

test.skipIf(noBrowser)('who wants less motion has charts all the same', async () => {
  const calm = await viewed.look({ reducedMotion: 'reduce' })
  const scene = beginScene(viewed.live, 'plain', 'no protection')
  scene.report(1, { kind: 'query-began', query: 1, at: now(), reason: undefined })
  await viewed.shows('#panel-running-plain', /peak 1/, calm)
  await calm.close()
})
