export { canStartServers, reachRedis, type ReachableRedis } from './reach-redis.ts'
export {
  startRedisCluster,
  type ClusterNode,
  type RedisCluster,
  type RedisClusterOptions,
} from './redis-cluster.ts'
export {
  startRedisSentinel,
  type RedisSentinel,
  type RedisSentinelOptions,
} from './redis-sentinel.ts'
export { startRedisServer, type RedisServer, type RedisServerOptions } from './redis-server.ts'
export type { Reply } from './resp.ts'
export type { SlotMove } from './slot-move.ts'
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'
export {
  startPostgresServer,
  type PostgresServer,
  type PostgresServerOptions,
} from './postgres-server.ts'
export { canStartPostgres } from './postgres-program.ts'
export { canStartPrometheus, promtool } from './prometheus-program.ts'
export {
  startPrometheus,
  type PrometheusOptions,
  type PrometheusServer,
  type Sample,
} from './prometheus-server.ts'
