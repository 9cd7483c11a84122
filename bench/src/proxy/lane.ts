// One kept connection that sends a request and reads its answer: as little work as possible, since it
// takes a processor from whom it measures.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export class Lane {
  readonly #socket: Socket
  #head = ''
  /** Bytes of the body that are still to come; none: the head is. */
  #left: number | undefined
  #settle: ((error?: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (data) => this.#read(data))
    socket.on('error', (error) => this.#settle?.(error))
    socket.on('close', () => this.#settle?.(new Error('the connection was closed')))
  }

  static async open(port: number): Promise<Lane> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Lane(socket)
  }

  /** Resolves when the whole answer is there; milliseconds. */
  ask(path: string): Promise<number> {
    const began = performance.now()
    return new Promise((resolve, reject) => {
      this.#settle = (error) => {
        this.#settle = undefined
        if (error === undefined) resolve(performance.now() - began)
        else reject(error)
      }
      this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
    })
  }

  close(): void {
    this.#settle = undefined
    this.#socket.destroy()
  }

  #read(data: Buffer): void {
    if (this.#left !== undefined) return this.#count(data.length)
    this.#head += data.toString('latin1')
    const end = this.#head.indexOf('\r\n\r\n')
    if (end < 0) return
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(this.#head) ?? []
    const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#head) ?? []
    const came = this.#head.length - end - 4
    this.#head = ''
    if (status !== '200' || length === undefined) {
      return this.#settle?.(
        new Error(`answered ${status ?? 'nothing'}, length ${length ?? 'none'}`),
      )
    }
    this.#left = Number(length)
    this.#count(came)
  }

  #count(bytes: number): void {
    this.#left! -= bytes
    if (this.#left! > 0) return
    this.#left = undefined
    this.#settle?.()
  }
}
