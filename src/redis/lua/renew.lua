-- Extends the lease if it is still the caller's, and tells whether anybody waits elsewhere.
-- KEYS[1] lease
-- ARGV[1] token
-- ARGV[2] leaseMs
-- returns 'lost' 'alone' 'awaited'
local record = redis.pcall('GET', KEYS[1])
local holder, awaited
if type(record) == 'string' then
  holder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')
end
if holder ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local time = redis.call('TIME')
return tonumber(awaited) > time[1] * 1000 + time[2] / 1000 and 'awaited' or 'alone'
