// What a server is told, on record: while BREAKWATER_MONITOR names a directory, every server of the
// rig has a MONITOR connection before anybody else can have one, and its lines go to a file there.
// Who sent which command about which key stands at a line's start; the rest is cut off.

import { appendFileSync, mkdirSync } from 'node:fs'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { join } from 'node:path'
import { areCommandsLogged, encode } from './resp.ts'

export interface CommandLog {
  /** Resolves when all that the server has told by its end is written. */
  end(): Promise<void>
}

const none: CommandLog = { end: async () => {} }
const longestLine = 300
let files = 0

/** Resolves when nothing can escape it. A sentinel refuses MONITOR, and is left out. */
export async function logCommands(
  server: NetConnectOpts,
  password: string | undefined,
): Promise<CommandLog> {
  if (!areCommandsLogged()) return none
  const directory = process.env['BREAKWATER_MONITOR']!
  mkdirSync(directory, { recursive: true })
  files += 1
  const port = 'port' in server ? server.port : 0
  const file = join(directory, `${port}-${process.pid}-${files}.log`)
  const write = (lines: string): void => appendFileSync(file, lines, 'latin1')

  let isOver = false
  const listen = async (): Promise<Socket | undefined> => {
    const socket = await monitor(server, password, write)
    // Killed with all other connections of a server that lives on: what it was told meanwhile is lost.
    socket?.once('close', () => {
      if (isOver) return
      write('# lost\n')
      current = listen().catch(() => undefined)
    })
    return socket
  }
  let current = listen()
  await current
  return {
    end: async () => {
      isOver = true
      const socket = await current
      if (socket === undefined || socket.destroyed) return
      await new Promise<void>((resolve) => {
        socket.once('close', () => resolve())
        socket.ref()
      })
    },
  }
}

/** `undefined`: refused. */
function monitor(
  server: NetConnectOpts,
  password: string | undefined,
  write: (lines: string) => void,
): Promise<Socket | undefined> {
  const commands = password === undefined ? [['MONITOR']] : [['AUTH', password], ['MONITOR']]
  return new Promise((resolve, reject) => {
    const socket = connect(server)
    let waitsFor = commands.length
    let rest = ''
    socket.on('data', (bytes) => {
      const lines = `${rest}${bytes.toString('latin1')}`.split('\r\n')
      rest = lines.pop()!.slice(0, longestLine)
      for (; waitsFor > 0 && lines.length > 0; waitsFor -= 1) {
        const reply = lines.shift()!
        if (reply === '+OK') continue
        write(`# not monitored: ${reply}\n`)
        socket.destroy()
        return resolve(undefined)
      }
      // Like its server, it keeps no process alive.
      if (waitsFor === 0) resolve(socket.unref())
      if (lines.length > 0) write(lines.map((line) => `${line.slice(0, longestLine)}\n`).join(''))
    })
    socket.once('error', reject)
    socket.on('error', () => {})
    socket.once('close', () => reject(new Error('the server closed the connection')))
    socket.write(commands.map(encode).join(''))
  })
}
