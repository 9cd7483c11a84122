/** What goes wrong in the imagined world, and how it is put right again. */
import { frameLayout } from '../core/frame.ts'
import type { Fault } from './plan.ts'
import type { Server } from './server.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Source } from './source.ts'
import type { Timeline } from './timeline.ts'
import type { Verdict } from './verdict.ts'
import type { Weather } from './wire.ts'

export interface FaultsOptions {
  readonly timeline: Timeline
  readonly server: Server
  readonly source: Source
  readonly weather: Weather
  readonly verdict: Verdict
  /** Those that are there now; by their place, which another one takes after a crash. */
  readonly processes: readonly SimulatedProcess[]
  /** Another process begins at this place. */
  replace(place: number): void
  close(process: SimulatedProcess): void
}

export class Faults {
  readonly #options: FaultsOptions
  #isOver = false

  constructor(options: FaultsOptions) {
    this.#options = options
  }

  begin(fault: Fault): void {
    const { timeline, server, processes, verdict, weather, replace, close } = this.#options
    const { kind, ms, n } = fault
    // This one, or the next that is there.
    const places = processes.keys()
    const place = [...places]
      .map((n) => (fault.process + n) % processes.length)
      .find((at) => processes[at]!.state === 'open')
    if (place === undefined) return
    const process = processes[place]!
    verdict.count(`fault ${kind}`)
    const later = (run: () => void, after = ms): void => {
      timeline.after(after, () => {
        if (!this.#isOver) run()
      })
    }
    switch (kind) {
      case 'pause':
        process.host.pause()
        return later(() => process.host.resume())
      case 'crash':
        this.#crash(process)
        return later(() => replace(place))
      case 'close':
        close(process)
        return later(() => replace(place))
      case 'stall':
        return process.link.wire.stall(n < 0.5 ? 'there' : 'back', ms)
      case 'stallBus':
        return process.bus.wire.stall('back', ms)
      case 'cut':
        process.link.unreachableUntil = timeline.now + ms
        process.link.cut()
        if (n < 0.5) return
        process.bus.unreachableUntil = timeline.now + ms
        return process.bus.cut()
      case 'cutBus':
        process.bus.unreachableUntil = timeline.now + ms
        return process.bus.cut()
      case 'silence':
        process.link.silence()
        return later(() => process.link.notice())
      case 'silenceBus':
        process.bus.silence()
        return later(() => process.bus.notice())
      case 'freeze':
        if (server.isGone || server.isFrozen) return
        server.freeze()
        return later(() => server.thaw())
      case 'kill':
        if (server.isGone) return
        server.die()
        this.#cutAll()
        return later(() => server.begin())
      case 'failover': {
        if (server.isGone) return
        // From now on the replica hears nothing of what is done.
        const from = server.deeds.length
        const { identity } = server
        return later(() => {
          if (server.isGone || server.identity !== identity) return
          server.die()
          this.#cutAll()
          later(() => server.failOver(from), 20 + n * 1_500)
        })
      }
      case 'slow':
        weather.lateMs += 5 + n * 400
        return later(() => (weather.lateMs -= 5 + n * 400))
      case 'refuse':
        server.refusal = n < 0.5 ? 'OOM' : 'READONLY'
        return later(() => (server.refusal = undefined))
      case 'evictFrame':
      case 'evictLease':
        return server.evict(kind === 'evictFrame' ? 'frame' : 'lease', this.#key(fault))
      case 'evictTags':
        return server.evictTags()
      case 'corrupt':
        return this.#corrupt(this.#key(fault), n)
    }
  }

  /** The world is well again: whatever was dead is found to be dead. */
  heal(): void {
    this.#isOver = true
    const { server, weather, processes, replace } = this.#options
    server.refusal = undefined
    weather.lateMs = 0
    if (server.isGone) server.begin()
    server.thaw()
    for (const [place, process] of processes.entries()) {
      if (process.state !== 'open') replace(place)
      process.host.resume()
      for (const link of [process.link, process.bus]) {
        link.unreachableUntil = 0
        link.notice()
      }
    }
  }

  #key({ row }: Fault): string {
    return this.#options.source.rows[row]!.key
  }

  #crash(process: SimulatedProcess): void {
    process.state = 'crashed'
    process.host.crash()
    process.link.close()
    process.bus.close()
    this.#options.server.leave(process.id)
  }

  #cutAll(): void {
    for (const { link, bus } of this.#options.processes) {
      link.cut()
      bus.cut()
    }
  }

  /** Bytes of somebody else, of a version to come, too few of them, or one that is wrong. */
  #corrupt(key: string, n: number): void {
    const { server } = this.#options
    const now = server.clock.now()
    const frame = server.space.frames.get(key, now)
    const until = server.space.frames.until(key, now)
    if (frame === undefined || until === undefined) return
    const put = (bytes: Uint8Array): void => server.space.frames.set(key, bytes, until, now)
    const at = Math.floor(n * 1_000) % frame.length
    const changed = new Uint8Array(frame)
    if (n < 0.15) return put(new TextEncoder().encode('{"of":"somebody else"}'))
    if (n < 0.3) changed[frameLayout.versionAt] = frameLayout.version + 1
    else if (n < 0.5) return put(frame.slice(0, at))
    else changed[at] = changed[at]! ^ (1 << (at % 8))
    put(changed)
  }
}
