-- An epoch is not built to its end. Its shards are swept like those of an old one.
-- KEYS[1] record
-- ARGV[1] id of the epoch
-- returns 1, or 0 when it is not the one that is being built
local held = redis.call('HMGET', KEYS[1], 'nextId', 'next')
if held[1] ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2])
redis.call('HDEL', KEYS[1], 'nextId', 'next', 'nextUntil')
return 1
