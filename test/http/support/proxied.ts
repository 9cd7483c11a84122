// The application behind `breakwater proxy`: all that lies between its door and its origin, with the
// cache that a test has made.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openOrigin } from '../../../cli/src/proxy/forward.ts'
import { takeIn } from '../../../cli/src/proxy/intake.ts'
import { reply } from '../../../cli/src/proxy/reply.ts'
import { proxySettings } from '../../../cli/src/proxy/settings.ts'
import { fromCommandLine } from '../../../cli/src/proxy/sources.ts'
import { httpCache } from '../../../src/adapters/http.ts'
import { listening, play, type Start } from './apps.ts'

export const proxied: Start = async (route, options) => {
  const behind = createServer((req, res) => void play(req, res, route))
  await new Promise<void>((resolve) => behind.listen(0, '127.0.0.1', resolve))
  const { port } = behind.address() as AddressInfo
  // As behind a proxy that is trusted, for a site that is built of its name.
  const said = { origin: `http://127.0.0.1:${port}`, hosts: 'site.test', trustProxy: 'all' }
  const settings = proxySettings([fromCommandLine(said)])
  const via = 'breakwater-test'
  const origin = openOrigin(settings, via, { asked: () => {}, failed: () => {} })
  const { trusted, maxBodyBytes } = settings
  const rules = { via, trusted, keepsHost: true, maxBodyBytes }
  const cached = httpCache({
    ...options,
    dispatch: (req, res) => cached(req, res, () => origin.forward({ req, res, isHead: false })),
  })
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const own = takeIn(req, rules)
    if (own !== undefined) return reply(res, own)
    const isHead = req.method === 'HEAD'
    cached(req, res, () => origin.forward({ req, res, isHead }))
  }
  const started = await listening(createServer(answer), cached)
  return {
    ...started,
    close: async () => {
      await started.close()
      await origin.close()
      behind.close()
      behind.closeAllConnections()
    },
  }
}
