// The hands behind the buttons. They act on the lab's own servers and processes and on nothing else,
// undo what they did after a while or when the scene ends, and remember every press: a run in which
// somebody pressed one is no measurement any more.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Servers } from '../servers/start-servers.ts'
import { writeTo } from '../run/requests.ts'
import {
  type ActionId,
  actions,
  awayMs,
  type Circumstances,
  extraQueryMs,
  slowMs,
  whyNot,
} from './actions.ts'
import type { Disturbance } from './disturbance.ts'
import type { LiveRecord } from './live-record.ts'
import type { Scene } from './scene.ts'

const writeTimeoutMs = 10_000

/** How long what a button does lasts. */
export interface Spells {
  readonly awayMs: number
  readonly slowMs: number
  /** Until another process takes the place of one that was killed. */
  readonly replacedAfterMs: number
}

const usual: Spells = { awayMs, slowMs, replacedAfterMs: 1000 }

export class Controls {
  readonly disturbances: Disturbance[] = []
  readonly #record: LiveRecord
  readonly #spells: Spells
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #servers: Servers | undefined
  #sceneOver = new AbortController()
  #isRedisAway = false
  #isSlow = false
  #isHolderAwaited = false
  #isOver = false

  constructor(record: LiveRecord, spells: Partial<Spells> = {}) {
    this.#record = record
    this.#spells = { ...usual, ...spells }
  }

  /** Somebody pressed Stop. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  open(servers: Servers): void {
    this.#servers = servers
  }

  whyNot(id: ActionId): string | undefined {
    if (this.#servers === undefined && !this.#isOver) return 'the servers are not up yet'
    return whyNot(id, this.#circumstances())
  }

  /** Why it was not done; undefined: it is being done. */
  press(id: ActionId): string | undefined {
    const why = this.whyNot(id)
    if (why !== undefined) return why
    if (id === 'stop') {
      this.#stop.abort()
      return undefined
    }
    const scene = this.#record.scene
    if (scene === undefined) return 'nothing is under load just now'
    const atMs = Math.round(performance.timeOrigin + performance.now() - scene.startedAt)
    this.disturbances.push({ action: id, during: scene.title, atMs })
    this.#record.pressed(`by a button: ${actions[id].label}`)
    const work = this.#do(id, scene, this.#sceneOver.signal).catch((error: unknown) => {
      this.#record.happened(`${actions[id].label}: ${error instanceof Error ? error.message : ''}`)
    })
    this.#underWay.add(work)
    void work.finally(() => this.#underWay.delete(work))
    return undefined
  }

  /** The scene is over: what is away comes back at once, so that the next one finds all as it should. */
  async settle(): Promise<void> {
    this.#sceneOver.abort()
    await Promise.all(this.#underWay)
    this.#sceneOver = new AbortController()
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.settle()
  }

  #circumstances(): Circumstances {
    return {
      mode: this.#record.mode,
      isOver: this.#isOver,
      scene: this.#record.scene,
      redis: this.#servers?.redis?.kind,
      database: this.#servers?.database.kind ?? 'private',
      isRedisAway: this.#isRedisAway,
      isSlow: this.#isSlow,
      isHolderAwaited: this.#isHolderAwaited,
    }
  }

  async #do(id: Exclude<ActionId, 'stop'>, scene: Scene, over: AbortSignal): Promise<void> {
    switch (id) {
      case 'kill-redis':
      case 'freeze-redis':
        return this.#takeRedisAway(id, over)
      case 'kill-holder':
        return this.#killHolder(scene, over)
      case 'slow-database':
        this.#isSlow = true
        scene.fleet.tell({ kind: 'slow', moreMs: extraQueryMs })
        await unlessOver(this.#spells.slowMs, over)
        scene.fleet.tell({ kind: 'slow', moreMs: 0 })
        this.#isSlow = false
        return this.#record.happened('the database is as fast as before')
      case 'write': {
        const living = scene.fleet.members.find(({ pid }) => scene.fleet.record.processes.has(pid))
        const revision = await writeTo(living?.port ?? 0, writeTimeoutMs)
        if (revision === undefined) this.#record.happened('the write was not acknowledged')
      }
    }
  }

  async #takeRedisAway(how: 'kill-redis' | 'freeze-redis', over: AbortSignal): Promise<void> {
    const server = this.#servers?.redisServer
    if (server === undefined) return
    this.#isRedisAway = true
    try {
      if (how === 'kill-redis') await server.kill()
      else server.freeze()
      await unlessOver(this.#spells.awayMs, over)
      if (how === 'kill-redis') await server.restart()
      else server.thaw()
      this.#record.happened(how === 'kill-redis' ? 'Redis is back, empty' : 'Redis answers again')
    } finally {
      this.#isRedisAway = false
    }
  }

  async #killHolder(scene: Scene, over: AbortSignal): Promise<void> {
    const { fleet } = scene
    const holding = fleet.members.filter(
      ({ pid }) => (fleet.record.processes.get(pid)?.leases.length ?? 0) > 0,
    )
    const latest = holding.toSorted((a, b) => sinceOf(scene, b.pid) - sinceOf(scene, a.pid))[0]
    this.#isHolderAwaited = latest === undefined
    const pid = latest?.pid ?? (await firstOf(fleet.record.nextLease(), over))
    this.#isHolderAwaited = false
    const number = fleet.members.findIndex((one) => one.pid === pid) + 1
    if (pid === undefined || number === 0) return
    fleet.kill(pid)
    this.#record.happened(`process ${number} is killed in mid-query`)
    await unlessOver(this.#spells.replacedAfterMs, over)
    if (over.aborted) return
    const fresh = await firstOf(fleet.replace(pid), over)
    if (fresh === undefined) return
    scene.addPort(fresh.port)
    this.#record.happened(`process ${number} is back`)
  }
}

function sinceOf({ fleet }: Scene, pid: number): number {
  return fleet.record.processes.get(pid)?.leases.at(-1) ?? 0
}

async function unlessOver(ms: number, over: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: over }).catch(() => undefined)
}

function firstOf<T>(work: Promise<T>, over: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (over.aborted) return resolve(undefined)
    over.addEventListener('abort', () => resolve(undefined), { once: true })
    work.then(resolve, reject)
  })
}
