-- An explicit write: fences loads in flight as invalidate does, stores, tells everyone. A write
-- that comes too late (it lay in a frozen server) must not undo what came after it.
-- A frame of a newer version stays; loads are fenced and everyone is told all the same.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] lifeMs
-- ARGV[2] frame
-- ARGV[3] notAfter this server's time in ms
-- ARGV[4] channel
-- ARGV[5] written message
-- returns 'ok' 'late' 'kept'

--@ apart

local time = redis.call('TIME')
if time[1] * 1000 + time[2] / 1000 > tonumber(ARGV[3]) then return 'late' end

-- core/frame.ts: magic, version at 2
local top = redis.pcall('GETRANGE', KEYS[1], 0, 2)
local newer = type(top) == 'string' and string.sub(top, 1, 2) == 'bw' and (string.byte(top, 3) or 0) > 1
-- Told first: a user who may not publish changes nothing. Nobody acts on it before the script ends.
redis.call('PUBLISH', ARGV[4], ARGV[5])
-- Then the frame: when it is refused (OOM), the store is as it was.
if not newer then
  local before = apart(KEYS[1])
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
  settle(before, apart(KEYS[1]), ARGV[1])
end
redis.call('DEL', KEYS[2])
return newer and 'kept' or 'ok'
