// The lab's live page in a real browser, fed by a run that a script tells: one browser and one Redis
// for a file of tests, a page of its own for each.

import { type Live, type LiveServer, serveLive } from '@breakwater/lab'
import { type RedisServer, startRedisServer } from '@breakwater/rig'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchChromium, noChromium } from './chromium.ts'
import { scriptedLab } from './scripted-lab.ts'

if (noChromium !== undefined) process.stderr.write(`The live page is NOT tested: ${noChromium}\n`)
export const noBrowser = noChromium !== undefined

export interface Viewed {
  readonly redis: RedisServer
  readonly live: Live
  readonly server: LiveServer
  readonly page: Page
  /** What the console has complained of, and whom the page has asked. */
  readonly trouble: string[]
  readonly hosts: Set<string>
  /** Another one that looks on. */
  look(options?: Parameters<Browser['newPage']>[0]): Promise<Page>
  shows(selector: string, text: string | RegExp, on?: Page): Promise<void>
}

/** Filled before each test. */
export function viewedLab(): Viewed {
  let browser: Browser | undefined
  const trouble: string[] = []
  const hosts = new Set<string>()
  const look: Viewed['look'] = async (options = {}) => {
    if (browser === undefined) throw new Error('expected a browser, got none')
    const opened = await browser.newPage({ viewport: { width: 1360, height: 900 }, ...options })
    opened.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') trouble.push(message.text())
    })
    opened.on('pageerror', (error) => trouble.push(error.message))
    opened.on('request', (asked) => hosts.add(new URL(asked.url()).host))
    await opened.goto(viewed.server.url)
    await opened.waitForSelector('#rows h3', { state: 'attached' })
    return opened
  }
  const viewed = {
    trouble,
    hosts,
    look,
    shows: (selector: string, text: string | RegExp, on?: Page) =>
      expect.poll(() => (on ?? viewed.page).textContent(selector), { timeout: 8000 }).toMatch(text),
  } as { -readonly [Key in keyof Viewed]: Viewed[Key] }

  beforeAll(async () => {
    viewed.redis = await startRedisServer()
    if (noChromium === undefined) browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await viewed.redis.stop()
  })
  beforeEach(async () => {
    trouble.length = 0
    hosts.clear()
    viewed.live = scriptedLab(viewed.redis)
    viewed.server = await serveLive(viewed.live, 0)
    if (browser !== undefined) viewed.page = await look()
  })
  afterEach(async () => {
    await viewed.live.controls.close()
    await viewed.server.close()
    if (browser !== undefined) await viewed.page.context().close()
  })
  return viewed
}
