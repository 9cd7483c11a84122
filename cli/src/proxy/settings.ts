/** What a proxy is told, checked once; every part of it takes what it needs from this record. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import type { Settings } from '../settings.ts'
import { usage } from '../ending.ts'
import { countIn, durationIn, expected, flagIn, listIn, sizeIn } from './given.ts'
import { proxyOptions, type OptionName, type ProxyOption, type SharedName } from './option-table.ts'
import type { Said, Sources } from './sources.ts'

export interface ProxySettings {
  readonly origin: OriginSettings
  readonly port: number
  readonly host: string | undefined
  readonly hosts: readonly string[]
  readonly trusted: BlockList | 'all' | undefined
  readonly maxHeaderBytes: number
  readonly maxBodyBytes: number
  readonly idleTimeoutMs: number
  readonly keepAliveMs: number
  readonly cache: CacheSettings
  readonly admin: { readonly port: number; readonly host: string } | undefined
  readonly healthPath: string | undefined
  readonly accessLog: string | undefined
  readonly graceMs: number
  readonly workers: number
  /** Of the connection to Redis; none: memory alone. */
  readonly redis: Pick<Settings, 'redis' | 'keyPrefix' | 'tls' | 'timeoutMs'> | undefined
  readonly namespace: string
}

export interface OriginSettings {
  readonly url: URL
  readonly ca: string | undefined
  readonly insecure: boolean
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly timeoutMs: number
}

export interface CacheSettings {
  readonly ttlMs: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly statuses: readonly number[] | undefined
  readonly ignoreQuery: readonly string[]
  readonly ignoreCookies: readonly string[]
  readonly vary: readonly string[]
  readonly limit: number | 'adaptive'
  readonly credentials: readonly string[]
  readonly uncacheableForMs: number
  readonly maxBytes: number
  readonly memoryBytes: number
  readonly storeTimeoutMs: number
  readonly purgeToken: string | undefined
  readonly statusName: string
}

type Name = OptionName | SharedName

/** Of several sources the first that says something. */
export function proxySettings(sources: readonly Sources[]): ProxySettings {
  const may = (name: Name): Said | undefined =>
    sources.map((source) => source.get(name)).find((said) => said !== undefined) ?? preset(name)
  const of = (name: Name): Said => may(name) ?? missing(name)
  const list = (name: Name): string[] => listIn(may(name) ?? { text: '', as: name })
  const eachOf = (name: Name, fits: RegExp, what: string): string[] =>
    list(name).map((text) => {
      if (fits.test(text)) return text.toLowerCase()
      throw expected(may(name)!.as, what, text)
    })
  const ms = (name: Name, least: 0 | 1 = 1): number => durationIn(of(name), least)
  const flag = (name: Name): boolean => flagIn(may(name) ?? { text: 'false', as: name })
  const url = originIn(of('origin'))
  return {
    origin: {
      url,
      ca: contentsIn(may('originCa')),
      insecure: flag('originInsecure'),
      connections: countIn(of('connections'), 1, 65_535),
      connectTimeoutMs: ms('connectTimeout'),
      timeoutMs: ms('originTimeout'),
    },
    port: countIn(of('port'), 0, 65_535),
    host: may('host')?.text,
    hosts: eachOf('hosts', isHost, 'names such as www.shop.com,shop.com:8080'),
    trusted: trustedIn(may('trustProxy')),
    maxHeaderBytes: sizeIn(of('maxHeader'), 1_024),
    maxBodyBytes: sizeIn(of('maxBody'), 0),
    idleTimeoutMs: ms('idleTimeout'),
    keepAliveMs: ms('keepAlive', 0),
    cache: {
      ttlMs: ms('ttl', 0),
      staleWhileRevalidateMs: ms('staleWhileRevalidate', 0),
      staleIfErrorMs: ms('staleIfError', 0),
      statuses: statusesIn(may('statuses')),
      ignoreQuery: list('ignoreQuery'),
      ignoreCookies: list('ignoreCookies'),
      vary: eachOf('vary', isFieldName, fieldNames),
      limit: limitIn(of('limit')),
      credentials: eachOf('credentials', isFieldName, fieldNames),
      uncacheableForMs: ms('uncacheableFor'),
      maxBytes: sizeIn(of('maxCached'), 0),
      memoryBytes: sizeIn(of('memory'), 2 ** 20),
      storeTimeoutMs: ms('storeTimeout'),
      purgeToken: tokenIn(may('purgeToken')),
      statusName: of('cacheStatus').text,
    },
    admin:
      of('adminPort').text === 'off'
        ? undefined
        : { port: countIn(of('adminPort'), 0, 65_535), host: of('adminHost').text },
    healthPath: pathIn(may('healthPath')),
    accessLog: may('accessLog')?.text,
    graceMs: ms('grace', 0),
    workers: countIn(of('workers'), 1, 256),
    redis: redisOf(may, flag),
    namespace: namespaceIn(may('namespace'), url),
  }
}

/** As they stand in a request: a URL would be the name of nothing, and all would go past the cache. */
const isHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const isFieldName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
const fieldNames = 'names of request fields such as accept-language'

function preset(name: Name): Said | undefined {
  const found = (proxyOptions as readonly ProxyOption[]).find((one) => one.name === name)
  return found?.preset === undefined ? undefined : { text: found.preset, as: name }
}

function missing(name: Name): never {
  throw usage(
    `--${name}: expected where answers come from, such as http://127.0.0.1:3000, got none`,
  )
}

function originIn({ text, as }: Said): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol)
  // Never the whole: a password may be in it.
  if (!isPlain)
    throw expected(as, 'http://host[:port] or https://…', text.replace(/\/\/.*@/, '//…@'))
  if (url.username !== '' || url.password !== '') {
    throw usage(`${as}: expected a URL without user and password, got some`)
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw expected(as, 'a URL without a path, since paths are passed on as they come', text)
  }
  return url
}

function trustedIn(said: Said | undefined): BlockList | 'all' | undefined {
  if (said === undefined) return undefined
  if (said.text === 'all') return 'all'
  const trusted = new BlockList()
  for (const one of listIn(said)) {
    const [address = '', bits] = one.split('/')
    const version = isIP(address)
    const most = version === 6 ? 128 : 32
    if (version === 0 || (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most))) {
      throw expected(said.as, 'addresses such as 10.0.0.0/8,127.0.0.1, or all', one)
    }
    trusted.addSubnet(
      address,
      bits === undefined ? most : Number(bits),
      version === 6 ? 'ipv6' : 'ipv4',
    )
  }
  return trusted
}

/** Never shown. */
function tokenIn(said: Said | undefined): string | undefined {
  if (said === undefined || said.text.length >= 16) return said?.text
  throw usage(`${said.as}: expected a secret of at least 16 characters, got ${said.text.length}`)
}

function limitIn(said: Said): number | 'adaptive' {
  return said.text === 'adaptive' ? said.text : countIn(said, 1, 65_535)
}

function statusesIn(said: Said | undefined): readonly number[] | undefined {
  if (said === undefined) return undefined
  return listIn(said).map((text) => countIn({ text, as: said.as }, 200, 499))
}

function pathIn(said: Said | undefined): string | undefined {
  if (said === undefined || /^\/[!-~]*$/.test(said.text)) return said?.text
  throw expected(said.as, 'a path that begins with /', said.text)
}

function contentsIn(said: Said | undefined): string | undefined {
  if (said === undefined) return undefined
  try {
    return readFileSync(said.text, 'utf8')
  } catch (error) {
    throw usage(`${said.as}: expected a file that can be read, got ${(error as Error).message}`)
  }
}

function redisOf(
  may: (name: Name) => Said | undefined,
  flag: (name: Name) => boolean,
): ProxySettings['redis'] {
  const redis = may('redis')?.text
  if (redis === undefined) return undefined
  return {
    redis,
    keyPrefix: may('keyPrefix')?.text ?? '',
    tls: {
      ca: may('tlsCa')?.text,
      cert: may('tlsCert')?.text,
      key: may('tlsKey')?.text,
      insecure: flag('insecure'),
    },
    timeoutMs: countIn(may('timeout') ?? { text: '5000', as: '--timeout' }, 1, 600_000),
  }
}

/** Two origins must not share entries: their paths are the keys. */
function namespaceIn(said: Said | undefined, { host }: URL): string {
  if (said !== undefined) {
    if (/^[A-Za-z0-9._-]{1,64}$/.test(said.text)) return said.text
    throw expected(said.as, '1 to 64 of A-Z a-z 0-9 . _ -', said.text)
  }
  const name = `proxy-${host.replace(':', '-')}`
  if (/^[a-z0-9._-]{1,64}$/.test(name)) return name
  return `proxy-${createHash('sha256').update(host).digest('hex').slice(0, 16)}`
}
