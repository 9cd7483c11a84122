// Starts a private server, says where, and waits to be killed.
import { startRedisServer } from '@breakwater/rig'

const server = await startRedisServer({ listen: process.argv[2] === 'socket' ? 'socket' : 'tcp' })
console.log(JSON.stringify({ pid: server.pid, url: server.url }))
setInterval(() => {}, 1_000)
