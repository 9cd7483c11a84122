-- Invalidates or expires by tag: every label gets the next epoch of the namespace's own count,
-- which is ahead of Redis's clock and of all that anybody knows, so that state which was lost
-- cannot make old frames valid again. The price is the same for any number of entries. Beyond
-- `most` labels the oldest are dropped, and the floor rises to the last of them.
-- KEYS[1] epochs, as in epochs.lua
-- KEYS[2] settling, as in epochs.lua
-- ARGV[1] kind 'g' gone, 'e' expired, 's' nothing but to settle
-- ARGV[2] known highest epoch that the caller knows
-- ARGV[3] settleMs 0: nothing settles
-- ARGV[4] most labels that are remembered
-- ARGV[5] channel
-- ARGV[6] head of the message, before epoch, previous epoch and settling instant (three f64)
-- ARGV[7] tail of the message
-- ARGV[8] and on: labels
-- returns { epoch, previous, instant until which it settles }
-- Something else under our key: nothing of ours is lost that was not lost before.
for i = 1, 2 do
  local count = redis.pcall('ZCARD', KEYS[i])
  if type(count) == 'table' and string.find(count.err, 'WRONGTYPE') then redis.call('DEL', KEYS[i]) end
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local previous = tonumber(redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
if not previous then
  previous = math.max(now, ARGV[2] + 1)
  redis.call('ZADD', KEYS[1], string.format('%.0f', previous), 'f')
end
local epoch = previous
if ARGV[1] ~= 's' then
  epoch = math.max(previous + 1, now, ARGV[2] + 1)
  for i = 8, #ARGV do
    redis.call('ZADD', KEYS[1], string.format('%.0f', epoch), ARGV[1] .. ARGV[i])
  end
  local over = redis.call('ZCARD', KEYS[1]) - 1 - ARGV[4]
  if over > 0 then
    local floor = '0'
    for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, over)) do
      if member ~= 'f' then
        floor = redis.call('ZSCORE', KEYS[1], member)
        redis.call('ZREM', KEYS[1], member)
      end
    end
    redis.call('ZADD', KEYS[1], floor, 'f')
  end
end
local settled = 0
if ARGV[3] ~= '0' then
  settled = math.floor(now / 1000) + ARGV[3]
  for i = 8, #ARGV do
    redis.call('ZADD', KEYS[2], 'GT', string.format('%.0f', settled), ARGV[i])
  end
  -- Kept a little longer than it lasts: for a process that was deaf when it loaded.
  local kept = ARGV[3] + 10000
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now / 1000 - 10000))
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[4])
  if redis.call('PTTL', KEYS[2]) < kept then redis.call('PEXPIRE', KEYS[2], string.format('%.0f', kept)) end
end
redis.call('PUBLISH', ARGV[5], ARGV[6] .. struct.pack('>ddd', epoch, previous, settled) .. ARGV[7])
return { string.format('%.0f', epoch), string.format('%.0f', previous), string.format('%.0f', settled) }
