-- Somebody has seen that the epoch in force has forgotten what was added to it: nobody is refused by
-- it from now on.
-- KEYS[1] record
-- ARGV[1] id of the epoch
-- ARGV[2] channel
-- ARGV[3] message for those who keep a copy
-- returns 1, or 0 when it is not the one in force
local held = redis.call('HMGET', KEYS[1], 'currentId', 'current')
if held[1] ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2], 'lost', '1')
redis.call('HDEL', KEYS[1], 'currentId', 'current')
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
