/**
 * What is too big for one command goes to the store, and comes back, in pieces: each under a
 * deadline of its own, two under way at a time, so that neither the server nor an event loop is held
 * up by the whole. The frame then has a note in place of its payload, and stays what is fenced.
 */
import { packNote, readNote, type Body, type Note } from '../core/frame.ts'
import type { Bodies } from '../ports.ts'
import type { Engine } from './engine.ts'
import { crc } from './values.ts'

const apartBytes = 1024 * 1024
const pieceBytes = 256 * 1024
const atOnce = 2

/** The body as it goes into its frame. A promise where its payload has to be put somewhere first. */
export function stowed(engine: Engine, key: string, body: Body): Body | Promise<Body> {
  const bodies = engine.store?.session.bodies
  if (bodies === undefined || body.payload.length <= apartBytes) return body
  return stow(engine, key, body, bodies)
}

async function stow(engine: Engine, key: string, body: Body, bodies: Bodies): Promise<Body> {
  const { payload } = body
  const id = engine.newToken()
  let sum = 0
  try {
    await inPieces(payload.length, async (at, length) => {
      const bytes = payload.subarray(at, at + length)
      sum = crc(bytes, sum)
      await engine.store!.call('body', key, () => bodies.put(key, { id, at, bytes }))
    })
  } catch (error) {
    // Else each attempt would leave megabytes behind for a while.
    drop(engine, key, bodies, id)
    throw error
  }
  const note: Note = { id, length: payload.length, crc: sum }
  return { ...body, isApart: true, payload: packNote(note) }
}

/** What was put for it beside its frame. */
export function apartLength({ isApart, payload }: Body): number {
  return isApart ? (readNote(payload)?.length ?? 0) : 0
}

/** Its frame was not stored. What cannot be told now ends by itself. */
export function unstow(engine: Engine, key: string, body: Body | undefined): void {
  const note = body?.isApart === true ? readNote(body.payload) : undefined
  const bodies = engine.store?.session.bodies
  if (note !== undefined && bodies !== undefined) drop(engine, key, bodies, note.id)
}

function drop(engine: Engine, key: string, bodies: Bodies, id: string): void {
  const dropped = engine.store!.evenSo('body', key, () => bodies.drop(key, id))
  void engine.background.track(dropped.catch(() => {}))
}

/** The body with its payload. Throws when that is not there, or is not what the note says. */
export async function fetched(
  engine: Engine,
  key: string,
  body: Body,
  mostBytes: number,
): Promise<Body> {
  const note = readNote(body.payload)
  const bodies = engine.store?.session.bodies
  if (note === undefined || bodies === undefined || note.length > mostBytes) {
    throw new Error('no body of ours')
  }
  const payload = Buffer.allocUnsafeSlow(note.length)
  const { id } = note
  await inPieces(note.length, async (at, length) => {
    const piece = { id, at, length }
    const bytes = await engine.store!.call('body', key, () => bodies.get(key, piece))
    if (bytes.length !== length) throw new Error('the body has gone, or has another length')
    payload.set(bytes, at)
    // Else the next piece is asked for, and read, in this very turn, and so on to the end of the burst.
    await engine.turn()
  })
  let sum = 0
  for (let at = 0; at < payload.length; at += apartBytes) {
    sum = crc(payload.subarray(at, at + apartBytes), sum)
  }
  if (sum !== note.crc) throw new Error('another checksum')
  return { ...body, isApart: false, payload }
}

/** In order of their beginning; ends with the first that fails, when all that began have ended. */
async function inPieces(
  length: number,
  run: (at: number, length: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < length) {
      const at = next
      next += pieceBytes
      try {
        await run(at, Math.min(pieceBytes, length - at))
      } catch (error) {
        next = Infinity
        throw error
      }
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
