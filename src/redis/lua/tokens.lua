-- Tokens of a bucket that all processes of a namespace share: so many loads may begin now. It is
-- refilled by Redis's time, at a steady rate up to `burst`; one that is not there is full.
-- KEYS[1] bucket: tokens in it, and the instant (ms) at which they were counted
-- ARGV[1] wanted
-- ARGV[2] perSecond
-- ARGV[3] burst
-- returns { granted, ms until one more can be had }
local wanted, perSecond, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local state = redis.pcall('GET', KEYS[1])
local tokens, at
-- Something else under our key is as nothing.
if type(state) == 'string' then tokens, at = string.match(state, '^(%S+) (%S+)$') end
tokens = tonumber(tokens or burst) + math.max(0, now - (at or now)) * perSecond / 1000
tokens = math.min(burst, tokens)
local granted = math.min(wanted, math.floor(tokens))
tokens = tokens - granted
local fullIn = math.ceil((burst - tokens) * 1000 / perSecond) + 1000
redis.call('SET', KEYS[1], string.format('%.6f %.3f', tokens, now), 'PX', string.format('%.0f', fullIn))
local wait = 0
if granted < wanted then wait = math.ceil((1 - tokens) * 1000 / perSecond) end
return { granted, wait }
