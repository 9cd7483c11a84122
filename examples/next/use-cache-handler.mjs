import { nextUseCacheHandler } from 'breakwater/next'
import { cache } from './cache.mjs'

export default nextUseCacheHandler({ cache })
