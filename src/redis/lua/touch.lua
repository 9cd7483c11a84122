-- "Not modified": puts a new head before the body of the frame that was seen, as publish does.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] token the publisher's, also the new head's stamp
-- ARGV[2] lifeMs
-- ARGV[3] head
-- ARGV[4] seen stamp of the frame whose body is kept
-- ARGV[5] channel
-- ARGV[6] published message, to which a small frame is appended
-- ARGV[7] released message for those who must load for themselves
-- returns 'ok' 'fenced', 'gone' (the lease stays), or the error with which the frame was refused

--@ apart

local record = redis.pcall('GET', KEYS[2])
local holder, awaited
if type(record) == 'string' then
  holder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')
end

-- core/frame.ts: magic, version 1, u32 length of the head at 4, stamp at 20 of 22 characters
local top = redis.pcall('GETRANGE', KEYS[1], 0, 41)
local stamp = nil
if type(top) == 'string' and #top == 42 and string.sub(top, 1, 3) == 'bw\001' then
  stamp = string.sub(top, 21, 42)
end
if holder ~= ARGV[1] then return stamp == ARGV[1] and 'ok' or 'fenced' end
if stamp ~= ARGV[4] then return 'gone' end
-- As long as its frame, and the minute that redis/bodies.ts adds.
local body = apart(KEYS[1])
if body and redis.pcall('PEXPIRE', body, tonumber(ARGV[2]) + 60000) ~= 1 then return 'gone' end

local old = redis.call('GET', KEYS[1])
local frame = ARGV[3] .. string.sub(old, struct.unpack('>I4', old, 5) + 1)
local done = redis.pcall('SET', KEYS[1], frame, 'PX', ARGV[2])
redis.pcall('DEL', KEYS[2])

local time = redis.call('TIME')
if tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then
  if #frame <= 1024 then
    redis.pcall('PUBLISH', ARGV[5], ARGV[6] .. frame)
  elseif done.err then
    redis.pcall('PUBLISH', ARGV[5], ARGV[7])
  else
    redis.pcall('PUBLISH', ARGV[5], ARGV[6])
  end
end
if done.err then return done end
return 'ok'
