-- The builder of an epoch is alive.
-- KEYS[1] record
-- ARGV[1] id of its epoch
-- ARGV[2] lifeMs
-- returns 1, or 0 when it has lost its turn
if redis.call('HGET', KEYS[1], 'nextId') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'nextUntil', now + tonumber(ARGV[2]))
return 1
