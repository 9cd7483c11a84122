// One command to a server over a connection of its own, without a client: the rig must not depend
// on what it helps to test, and must be able to ask a server that a client has given up.

import { connect, type NetConnectOpts } from 'node:net'

export type Reply = string | number | null | readonly Reply[]

export interface AskOptions {
  readonly password?: string | undefined
  /** Default: 10 s, so that a frozen server fails a test and does not hang it. */
  readonly timeoutMs?: number
}

/** The reply; an error reply, a refused connection and silence reject. */
export function ask(
  server: NetConnectOpts,
  command: readonly (string | number)[],
  { password, timeoutMs = 10_000 }: AskOptions = {},
): Promise<Reply> {
  const name = areCommandsLogged() ? [['PING', 'rig']] : []
  const commands = [...(password === undefined ? [] : [['AUTH', password]]), ...name, command]
  return new Promise((resolve, reject) => {
    const socket = connect(server)
    let received = Buffer.alloc(0)
    const finish = (end: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      end()
    }
    const fail = (reason: string) => {
      finish(() => reject(new Error(`${command.slice(0, 3).join(' ')}: ${reason}`)))
    }
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs)
    socket.on('error', ({ message }) => fail(message))
    socket.on('close', () => fail('the server closed the connection'))
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const replies = readReplies(received)
      const failed = replies.find((reply, n) => reply instanceof Error && commands[n] !== name[0])
      if (failed instanceof Error) fail(failed.message)
      else if (replies.length === commands.length) finish(() => resolve(replies.at(-1) as Reply))
    })
    socket.write(commands.map(encode).join(''))
  })
}

export function encode(command: readonly (string | number)[]): string {
  const words = command.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`)
  return `*${command.length}\r\n${words.join('')}`
}

/** Then a connection of the rig says first that it is one: by its address nobody could tell. */
export function areCommandsLogged(): boolean {
  return (process.env['BREAKWATER_MONITOR'] ?? '') !== ''
}

interface Read {
  readonly reply: Reply | Error
  readonly end: number
}

function readReplies(bytes: Buffer): (Reply | Error)[] {
  const replies = []
  for (let at = 0; ;) {
    const read = readReply(bytes, at)
    if (read === undefined) return replies
    replies.push(read.reply)
    at = read.end
  }
}

/** `undefined`: the rest of it is still on its way. */
function readReply(bytes: Buffer, at: number): Read | undefined {
  const newline = bytes.indexOf('\r\n', at)
  if (newline === -1) return undefined
  const line = bytes.toString('utf8', at + 1, newline)
  const end = newline + 2
  switch (String.fromCharCode(bytes[at] ?? 0)) {
    case '+':
      return { reply: line, end }
    case '-':
      return { reply: new Error(line), end }
    case ':':
      return { reply: Number(line), end }
    case '$': {
      const length = Number(line)
      if (length === -1) return { reply: null, end }
      if (bytes.length < end + length + 2) return undefined
      return { reply: bytes.toString('utf8', end, end + length), end: end + length + 2 }
    }
    case '*':
      return readList(bytes, end, Number(line))
    default:
      throw new Error(`expected a reply of RESP2, got ${JSON.stringify(line)}`)
  }
}

function readList(bytes: Buffer, start: number, length: number): Read | undefined {
  if (length === -1) return { reply: null, end: start }
  const list: Reply[] = []
  let end = start
  for (let n = 0; n < length; n += 1) {
    const read = readReply(bytes, end)
    if (read === undefined) return undefined
    // An error inside of a list (EXEC) is no use that the rig has.
    list.push(read.reply instanceof Error ? read.reply.message : read.reply)
    end = read.end
  }
  return { reply: list, end }
}
