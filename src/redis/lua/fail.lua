-- Turns the lease into a marker of the failure, without a holder, and wakes those who wait.
-- The frame is not touched: a stale value lives as long as it would have lived.
-- KEYS[1] lease
-- ARGV[1] token
-- ARGV[2] error text
-- ARGV[3] backoffMs nobody may try for this long
-- ARGV[4] collectMs those who waited for this load may ask for its failure for this long
-- ARGV[5] channel
-- ARGV[6] failed message
-- returns 'ok' 'lost'
local record = redis.pcall('GET', KEYS[1])
local holder, awaited
if type(record) == 'string' then
  holder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')
end
if holder ~= ARGV[1] then return 'lost' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local marker = string.format('bw1 - 0 %s %.0f %.0f ', ARGV[1], now + ARGV[4], now + ARGV[3]) .. ARGV[2]
local done = redis.pcall('SET', KEYS[1], marker, 'PX', ARGV[4])
-- No memory for a marker: then at least the key is free.
if done.err then redis.call('DEL', KEYS[1]) end
if tonumber(awaited) > now then redis.pcall('PUBLISH', ARGV[5], ARGV[6]) end
return 'ok'
