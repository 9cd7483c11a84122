// Who may see the page and press its buttons: whoever has its address. It listens on the loopback
// alone, but every page in the user's browser could send requests there, so: a random token in the
// path; a Host that names the loopback, since a foreign name can be made to lead here (DNS
// rebinding); and no request that the browser says another page has made (CSRF).

import { timingSafeEqual } from 'node:crypto'

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

export interface Knock {
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, of browsers. */
  readonly fetchSite: string | undefined
  readonly token: string | undefined
}

/** Why it is refused; undefined: it is not. */
export function refusal(knock: Knock, token: string): string | undefined {
  const { host = '', origin, fetchSite } = knock
  // Any port: a tunnel from another machine may have a port of its own.
  if (!loopback.has(host.replace(/:\d+$/, '')))
    return `expected the loopback as Host, got "${host}"`
  if (origin !== undefined && origin !== `http://${host}`) {
    return `expected a request of this page, got one of ${origin}`
  }
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') {
    return `expected a request of this page, got a ${fetchSite} one`
  }
  const [given, own] = [Buffer.from(knock.token ?? ''), Buffer.from(token)]
  if (given.length !== own.length || !timingSafeEqual(given, own)) {
    return 'expected the whole address that npm start has printed, with what follows the port'
  }
  return undefined
}
