/**
 * A script by its SHA, and by its source when the server does not know it (any more): after a
 * restart, a failover, SCRIPT FLUSH. EVAL registers it again, so only the first call pays twice.
 */
import { chunksOf } from '../core/parts-of.ts'
import type { RedisCommands, ScriptCall } from './commands.ts'
import type { ScriptSource } from './scripts.generated.ts'

/** Calls per write to the socket: bounds memory, and what one slow write holds up. */
const batch = 500

export async function runScript(
  commands: RedisCommands,
  script: ScriptSource,
  call: ScriptCall,
): Promise<unknown> {
  try {
    return await commands.evalsha(script.sha1, call)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return commands.eval(script.source, call)
  }
}

/** All or an error: the first one, after every call has been answered. */
export async function runScriptMany(
  commands: RedisCommands,
  script: ScriptSource,
  calls: readonly ScriptCall[],
): Promise<void> {
  let failed: { readonly error: unknown } | undefined
  for (const some of chunksOf(calls, batch)) {
    const error = await runBatch(commands, script, some)
    failed ??= error
  }
  if (failed !== undefined) throw failed.error
}

async function runBatch(
  commands: RedisCommands,
  script: ScriptSource,
  calls: readonly ScriptCall[],
): Promise<{ readonly error: unknown } | undefined> {
  const replies = await commands.evalshaMany(script.sha1, calls)
  const unknown = calls.filter((_, index) => isUnknownScript(replies[index]))
  const failed = replies.find((reply) => reply instanceof Error && !isUnknownScript(reply))
  if (failed !== undefined) return { error: failed }
  if (unknown.length === 0) return undefined
  // The first registers the script, so that its source is sent once to a server that has lost it.
  const [first, ...rest] = unknown
  await runScript(commands, script, first!)
  // In a cluster, one of several servers that have: each of those learns it from its own first.
  return rest.length === 0 ? undefined : runBatch(commands, script, rest)
}

function isUnknownScript(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith('NOSCRIPT')
}
