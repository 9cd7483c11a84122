// As many requests as a server answers: connections that are kept, each with some requests on the way,
// written and counted as bytes, so that the generator takes little of the machine.

import { connect, type Socket } from 'node:net'
import { end } from './plan.ts'

export interface Load {
  readonly port: number
  readonly paths: readonly string[]
  readonly forMs: number
}

const connections = 20
const onTheWay = 10
const endByte = end.charCodeAt(0)

/** Answers per second. */
export async function load({ port, paths, forMs }: Load): Promise<number> {
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: shop.test\r\nUser-Agent: bench\r\n\r\n`),
  )
  let next = 0
  let answers = 0
  const ask = (socket: Socket, times: number): void => {
    const all: Buffer[] = []
    for (let n = 0; n < times; n++) all.push(requests[next++ % requests.length]!)
    socket.write(Buffer.concat(all))
  }
  const sockets = Array.from({ length: connections }, () =>
    connect({ port, host: '127.0.0.1', noDelay: true }),
  )
  const failed = new Promise<never>((_, reject) => {
    for (const socket of sockets) socket.once('error', reject)
  })
  for (const socket of sockets) {
    socket.on('data', (chunk) => {
      let arrived = 0
      for (let at = chunk.indexOf(endByte); at >= 0; at = chunk.indexOf(endByte, at + 1)) arrived++
      answers += arrived
      if (arrived > 0) ask(socket, arrived)
    })
    ask(socket, onTheWay)
  }
  const begun = performance.now()
  try {
    await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, forMs))])
    return answers / ((performance.now() - begun) / 1_000)
  } finally {
    for (const socket of sockets) socket.removeAllListeners('data').destroy()
  }
}
