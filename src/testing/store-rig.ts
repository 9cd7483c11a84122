/**
 * What the store's conformance cases stand on: a way to open sessions ("processes") on one store
 * and to let its time pass, and frames to put in. Plain functions, for any test runner.
 */
import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { frameLayout, packFrame, packHead, plainBody } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import type { AcquireRequest, BusMessage, StoreSession, Token } from '../ports.ts'

/** One store, fresh for each case. */
export interface StoreRig {
  /** Resolves when the session is ready and its bus is up. Default namespace: `suite`. */
  open(namespace?: string): Promise<OpenedSession>
  /** Lets at least `ms` of the store's time pass. */
  pass(ms: number): Promise<void>
}

export interface OpenedSession {
  readonly session: StoreSession
  /** What it has heard so far, in order. */
  readonly messages: readonly BusMessage[]
}

export interface StoreCase {
  readonly name: string
  run(rig: StoreRig): Promise<void>
}

let made = 0

/** 22 characters, different each time. */
export function newToken(): Token {
  made += 1
  return `token-${made}`.padEnd(22, '_')
}

export interface FrameShape extends Partial<Head> {
  readonly bytes?: number
}

export function newFrame(stamp: Token, shape: FrameShape = {}): Uint8Array {
  const { bytes = 8, ...head } = shape
  const payload = new Uint8Array(bytes).fill(made % 251)
  return new Uint8Array(packFrame(newHead(stamp, head), plainBody(1, payload), crc32))
}

export function newHeadBytes(stamp: Token, head: Partial<Head> = {}): Uint8Array {
  return new Uint8Array(packHead(newHead(stamp, head), crc32))
}

function newHead(stamp: Token, head: Partial<Head>): Head {
  return {
    stamp,
    startedAt: 1,
    storedAt: 2,
    freshUntil: 3,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    deltaMs: 4,
    asOf: 5,
    negative: false,
    uncacheable: undefined,
    tags: [],
    meta: undefined,
    ...head,
  }
}

/** As a version of breakwater to come would write it. */
export function newerFrame(): Uint8Array {
  const frame = newFrame(newToken())
  frame[frameLayout.versionAt] = frameLayout.version + 1
  return frame
}

export function asking(
  key: string,
  token: Token,
  request: Partial<AcquireRequest> = {},
): AcquireRequest {
  return {
    key,
    token,
    leaseMs: 5_000,
    seen: undefined,
    waitedFor: undefined,
    mode: 'wait',
    ...request,
  }
}

/** Takes the lease of a key that is free. */
export async function take(
  session: StoreSession,
  key: string,
  request: Partial<AcquireRequest> = {},
): Promise<Token> {
  const token = newToken()
  const answer = await session.acquire(asking(key, token, { mode: 'take', ...request }))
  assert.deepEqual(answer, { type: 'lease' })
  return token
}

/** Puts bytes there as they are. */
export async function put(
  session: StoreSession,
  key: string,
  frame: Uint8Array,
  lifeMs = 60_000,
): Promise<void> {
  const request = { key, frame, lifeMs, stamp: newToken(), notAfter: Number.MAX_SAFE_INTEGER }
  assert.equal(await session.write(request), 'ok')
}

let beats = 0

/** What a session has heard of everything that the store did before this call, beats left out. */
export async function heard(opened: OpenedSession): Promise<BusMessage[]> {
  // Through each server: only what went through the same one is in order.
  const n = ++beats
  const { sent } = await opened.session.beat(n)
  const isBack = (through: string) =>
    opened.messages.some((one) => one.type === 'beat' && one.n === n && one.through === through)
  for (let turn = 0; turn < 2_000; turn += 1) {
    if (sent.every(({ through }) => isBack(through))) break
    assert.ok(turn < 1_999, 'expected the beat to come back')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return opened.messages.filter((message) => message.type !== 'beat')
}

export async function timeOf(session: StoreSession): Promise<number> {
  return (await session.beat(0)).time
}

/** Equal bytes, whatever class they come in. */
export function sameBytes(got: Uint8Array | undefined, expected: Uint8Array): void {
  assert.ok(got !== undefined, 'expected bytes, got none')
  assert.equal(Buffer.from(got).toString('hex'), Buffer.from(expected).toString('hex'))
}

export const nastyKeys = [
  'plain',
  'two words',
  '{braces}',
  '}first',
  '{}',
  '{',
  'a{b}c{d}',
  'line\nbreak\r\n$3\r\n',
  '__proto__',
  'constructor',
  'toString',
  '',
  '%',
  '%25',
  '%7B',
  '{}:v',
  ':l',
  '👍 naïve 日本',
  'lone \ud800 high',
  'lone \udc00 low',
  '\ud83d',
  'nul\0inside',
  'x'.repeat(512),
] as const
