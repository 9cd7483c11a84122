// Faults that a stranger has found in the server of the lab's live page.

import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLive } from '../../lab/src/live/live.ts'
import { serveLive, type LiveServer } from '../../lab/src/live/serve.ts'

let server: LiveServer
beforeAll(async () => {
  server = await serveLive(createLive('play'), 0)
})
afterAll(() => server.close())

function statusOf(method: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request(new URL(path, server.url), { method }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asking.on('error', reject)
    asking.end()
  })
}

it('who asks for the head of the stream is no viewer', async () => {
  expect(await statusOf('HEAD', 'stream')).toBe(404)
})
