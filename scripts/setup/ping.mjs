// Asks the server at a redis:// or rediss:// address for a PONG, with nothing but a socket, since
// this runs before any dependency is installed. Says what is wrong instead of throwing.

import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

const deadlineMs = 5_000

/**
 * @param {string} address
 * @returns {Promise<string | undefined>} what is wrong, or undefined when it answered
 */
export function ping(address) {
  let url
  try {
    url = new URL(address)
  } catch {
    return Promise.resolve('expected an address such as redis://127.0.0.1:6379')
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    return Promise.resolve(`expected redis:// or rediss://, got ${url.protocol}//`)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1'
  const port = Number(url.port || 6379)
  const user = decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  const commands = [
    ...(password === '' ? [] : [['AUTH', ...(user === '' ? [] : [user]), password]]),
    ['PING'],
  ]

  return new Promise((resolve) => {
    const secure = url.protocol === 'rediss:'
    const socket = secure ? connectTls({ host, port, servername: host }) : connect({ host, port })
    let received = ''
    const finish = (/** @type {string | undefined} */ trouble) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(trouble)
    }
    const timer = setTimeout(() => finish(`no answer within ${deadlineMs / 1000} s`), deadlineMs)
    socket.on(secure ? 'secureConnect' : 'connect', () =>
      socket.write(commands.map(encode).join('')),
    )
    socket.on('error', (error) => finish(error.message || `${host}:${port} refused the connection`))
    socket.on('close', () => finish('the connection was closed'))
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const error = /^-(.*)\r\n/m.exec(received)
      if (error !== null) finish(`it answered "${error[1]}"`)
      else if (/^\+PONG\r\n/m.test(received)) finish(undefined)
    })
  })
}

/** @param {string[]} words */
function encode(words) {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}
