// Everybody who looks on, by server-sent events: who comes gets the whole, then what changes, at most
// four times a second and only while somebody is there. Nothing is kept for who is slow: such a
// connection is closed, the browser comes again and gets the whole again.

import type { ServerResponse } from 'node:http'
import { actionIds } from './actions.ts'
import { createRenderer, type Fragments } from './fragments.ts'
import type { Live } from './live.ts'

const everyMs = 250
const mostUnsentBytes = 2 ** 21
const graceMs = 500

interface Viewer {
  readonly response: ServerResponse
  shown: Fragments
  buttons: string
  told: number
}

export class Viewers {
  readonly #live: Live
  readonly #viewers = new Set<Viewer>()
  readonly #render = createRenderer()
  #timer: NodeJS.Timeout | undefined

  constructor(live: Live) {
    this.#live = live
  }

  add(response: ServerResponse): void {
    const viewer: Viewer = { response, shown: new Map(), buttons: '', told: 0 }
    this.#viewers.add(viewer)
    response.on('error', () => undefined)
    response.once('close', () => {
      this.#viewers.delete(viewer)
      if (this.#viewers.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    })
    this.#timer ??= setInterval(() => this.#update(), everyMs)
    this.#update()
  }

  /** The last state, that it is the last, and a short while for it to arrive. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#update()
    await Promise.all(
      [...this.#viewers].map(
        ({ response }) =>
          new Promise<void>((done) => {
            setTimeout(done, graceMs).unref()
            response.once('close', done)
            send(response, 'ended', true)
            response.end(done)
          }),
      ),
    )
  }

  /** Whatever is wrong with the page, the run goes on: it then has no viewers. */
  #update(): void {
    try {
      if (this.#viewers.size > 0) this.#show()
    } catch {
      for (const { response } of this.#viewers) response.destroy()
    }
  }

  #show(): void {
    const state = this.#live.record.state()
    const fragments = this.#render(state)
    const buttons = JSON.stringify(
      Object.fromEntries(actionIds.map((id) => [id, this.#live.controls.whyNot(id) ?? null])),
    )
    for (const viewer of this.#viewers) {
      const { response } = viewer
      if (response.writableLength > mostUnsentBytes) {
        response.destroy()
        continue
      }
      const changed = [...fragments].filter(([id, html]) => viewer.shown.get(id) !== html)
      if (changed.length > 0) send(response, 'fragments', changed)
      const news = state.happenings.filter(({ id }) => id > viewer.told)
      if (news.length > 0) send(response, 'happened', news)
      if (viewer.buttons !== buttons) response.write(`event: buttons\ndata: ${buttons}\n\n`)
      Object.assign(viewer, { shown: fragments, buttons, told: news.at(-1)?.id ?? viewer.told })
    }
  }
}

function send(response: ServerResponse, event: string, data: unknown): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
