-- Makes an entry stale as of now: both windows run from this instant, or from the earlier one at
-- which freshness ended. The frame's life is shortened to that, never extended. What has no
-- window left, or cannot be read, goes. The lease goes in any case.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] channel
-- ARGV[2] expired message
-- ARGV[3] invalidated message
-- returns 'expired' 'invalidated'

--@ apart

redis.call('DEL', KEYS[2])

-- core/frame.ts: f64 expiredAt at 12, freshUntil, staleWhileRevalidateMs, staleIfErrorMs at 58
local kept = false
local top = redis.pcall('GETRANGE', KEYS[1], 0, 97)
if type(top) == 'string' and #top == 98 and string.sub(top, 1, 3) == 'bw\001' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local expiredAt = struct.unpack('>d', top, 13)
  local freshUntil, whileRevalidate, ifError = struct.unpack('>ddd', top, 59)
  local ended = math.min(freshUntil, now)
  if expiredAt > 0 then ended = math.min(ended, expiredAt) end
  local window = math.max(whileRevalidate, ifError)
  local life = math.ceil(ended + window - now)
  -- NaN compares false: such a frame goes.
  if window > 0 and life > 0 and life < 1e15 then
    local done = redis.pcall('SETRANGE', KEYS[1], 12, struct.pack('>d', ended))
    kept = type(done) == 'number'
    local left = redis.call('PTTL', KEYS[1])
    if kept and (left < 0 or life < left) then
      redis.call('PEXPIRE', KEYS[1], string.format('%.0f', life))
      -- As long as its frame, and the minute that redis/bodies.ts adds.
      local body = apart(KEYS[1])
      if body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end
    end
  end
end
if kept then
  redis.call('PUBLISH', ARGV[1], ARGV[2])
  return 'expired'
end
local body = apart(KEYS[1])
if body then redis.pcall('UNLINK', body) end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[3])
return 'invalidated'
