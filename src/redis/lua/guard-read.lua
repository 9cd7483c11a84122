-- What is written down of a guard's filter, and the store's time.
-- KEYS[1] record
-- returns {ms, fields and their values}
local time = redis.call('TIME')
return { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGETALL', KEYS[1]) }
