export { canStartServers, reachRedis, type ReachableRedis } from './reach-redis.ts'
export { startRedisServer, type RedisServer, type RedisServerOptions } from './redis-server.ts'
