-- The epoch that was built is asked from now on. The one before stays listed until its shards are
-- gone: who has not heard of this yet still asks it, and adds still go into all that are listed.
-- KEYS[1] record
-- ARGV[1] id of the epoch that was built
-- ARGV[2] channel
-- ARGV[3] message for those who keep a copy
-- returns 1, or 0 when its builder has lost its turn
local held = redis.call('HMGET', KEYS[1], 'nextId', 'next', 'currentId', 'current')
if held[1] ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if held[3] then redis.call('HSET', KEYS[1], 'old:' .. held[3], now .. ' ' .. held[4]) end
redis.call('HSET', KEYS[1], 'currentId', held[1], 'current', held[2], 'built', '1')
redis.call('HDEL', KEYS[1], 'nextId', 'next', 'nextUntil', 'lost')
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
