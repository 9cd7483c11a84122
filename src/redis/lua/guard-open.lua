-- Announces an epoch that is about to be built, whose shards are there. One at a time: a builder
-- that has not been heard of for its whole life has lost its turn, and what it built is dropped.
-- KEYS[1] record
-- ARGV[1] id of the new epoch
-- ARGV[2] epoch as text
-- ARGV[3] lifeMs
-- ARGV[4] mode 'anew', or 'first': only where none was ever built
-- returns {'ok'} {'exists'} {'busy', ms}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'nextId', 'next', 'nextUntil', 'built')
if held[1] and tonumber(held[3]) > now then return { 'busy', tonumber(held[3]) - now } end
if ARGV[4] == 'first' and held[4] then return { 'exists' } end
if held[1] then redis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2]) end
redis.call('HSET', KEYS[1], 'nextId', ARGV[1], 'next', ARGV[2], 'nextUntil', now + tonumber(ARGV[3]))
return { 'ok' }
