-- Stores a loaded frame, only while the lease is the publisher's own, and wakes those who wait.
-- "The lease is gone, so it is mine" is the tempting bug: an invalidation deletes leases.
-- A repeated publish (the first reply was lost) finds its own stamp. A frame of a newer version stays.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] token the publisher's, also the frame's stamp
-- ARGV[2] lifeMs
-- ARGV[3] frame
-- ARGV[4] channel
-- ARGV[5] published message, to which a small frame is appended
-- ARGV[6] released message for those who must load for themselves
-- returns 'ok' 'fenced' 'kept', or the error with which the frame was refused

--@ apart

local frame = ARGV[3]
local record = redis.pcall('GET', KEYS[2])
local holder, awaited
if type(record) == 'string' then
  holder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')
end

-- core/frame.ts: magic, version at 2, stamp at 20 of 22 characters
local top = redis.pcall('GETRANGE', KEYS[1], 0, 41)
if type(top) ~= 'string' then top = '' end
if holder ~= ARGV[1] then
  if string.sub(top, 1, 3) == 'bw\001' and string.sub(top, 21, 42) == ARGV[1] then return 'ok' end
  -- Evicted or flushed, and nobody was told: those who wait would sleep until it would have ended.
  if not record then redis.pcall('PUBLISH', ARGV[4], ARGV[6]) end
  return 'fenced'
end

local answer, refused = 'ok', nil
if string.sub(top, 1, 2) == 'bw' and (string.byte(top, 3) or 0) > 1 then
  answer = 'kept'
else
  local before = apart(KEYS[1])
  local done = redis.pcall('SET', KEYS[1], frame, 'PX', ARGV[2])
  if done.err then refused = done else settle(before, apart(KEYS[1]), ARGV[2]) end
end
redis.pcall('DEL', KEYS[2])

local time = redis.call('TIME')
if tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then
  if #frame <= 1024 then
    redis.pcall('PUBLISH', ARGV[4], ARGV[5] .. frame)
  elseif refused or answer == 'kept' then
    redis.pcall('PUBLISH', ARGV[4], ARGV[6])
  else
    redis.pcall('PUBLISH', ARGV[4], ARGV[5])
  end
end
return refused or answer
