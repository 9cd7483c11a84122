-- Gives the lease back if it is still the caller's, and wakes those who wait.
-- KEYS[1] lease
-- ARGV[1] token
-- ARGV[2] channel
-- ARGV[3] released message
-- returns 'ok' 'lost'
local record = redis.pcall('GET', KEYS[1])
local holder, awaited
if type(record) == 'string' then
  holder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')
end
if holder ~= ARGV[1] then return 'lost' end
redis.call('DEL', KEYS[1])
local time = redis.call('TIME')
if tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then
  redis.pcall('PUBLISH', ARGV[2], ARGV[3])
end
return 'ok'
