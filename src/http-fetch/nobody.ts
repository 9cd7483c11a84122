/**
 * A request that no visitor made, for refreshes in the background. It is known by its identity: no
 * field says so, which a visitor could send as well.
 */
import type { HttpRequest } from '../http/message.ts'
import type { Recording } from '../http/recording.ts'

interface Refresh {
  readonly recording: Recording
  readonly owner: object
}

const refreshes = new WeakMap<Request, Refresh>()

/** Where this request is one of ours: what records its answer, and for whom. */
export function refreshOf(request: Request): Refresh | undefined {
  return refreshes.get(request)
}

export function askedByNobody(owner: object, asked: HttpRequest, recording: Recording): Request {
  const { fields, isSecure, method, url } = asked
  const host = fields['host'] ?? fields[':authority']
  const headers = new Headers()
  for (const name in fields) {
    const value = fields[name]
    if (value === undefined || name.startsWith(':')) continue
    headers.set(name, typeof value === 'string' ? value : value.join(', '))
  }
  const request = new Request(`${isSecure ? 'https' : 'http'}://${String(host)}${url}`, {
    method,
    headers,
  })
  refreshes.set(request, { recording, owner })
  return request
}
