import { nextCacheHandler } from 'breakwater/next'
import { cache } from './cache.mjs'

export default nextCacheHandler({ cache })
