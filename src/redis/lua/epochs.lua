-- What was invalidated or expired by tag later than an epoch, newest first, and what is settling.
-- State that is not there (any more) begins anew with a floor of now: whatever was lost with it,
-- no frame of before is valid.
-- KEYS[1] epochs: 'g' or 'e' and a label, by epoch; 'f', the floor, lies below all of them
-- KEYS[2] settling: labels by the instant (ms) at which what is loaded before it ends
-- ARGV[1] since epoch that is known already
-- ARGV[2] most marks at most
-- ARGV[3] known highest epoch that anybody told
-- ARGV[4] settling '1': what is settling is asked for
-- ARGV[5] and on: labels that are looked up whatever their epoch
-- returns { seconds, microseconds, highest, floor, since, { mark, epoch … }, { label, instant … } }
-- Something else under our key: nothing of ours is lost that was not lost before.
for i = 1, 2 do
  local count = redis.pcall('ZCARD', KEYS[i])
  if type(count) == 'table' and string.find(count.err, 'WRONGTYPE') then redis.call('DEL', KEYS[i]) end
end
local time = redis.call('TIME')
local top = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if not top[2] then
  local begin = math.max(time[1] * 1000000 + time[2], ARGV[3] + 1)
  top[2] = string.format('%.0f', begin)
  redis.call('ZADD', KEYS[1], top[2], 'f')
end
local floor = redis.call('ZSCORE', KEYS[1], 'f') or '0'
local since = ARGV[1]
local marks = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. since, 'WITHSCORES', 'LIMIT', 0, ARGV[2])
if #marks >= 2 * ARGV[2] then since = marks[#marks] end
for i = 5, #ARGV do
  for _, kind in ipairs({ 'g', 'e' }) do
    local epoch = redis.call('ZSCORE', KEYS[1], kind .. ARGV[i])
    if epoch then
      marks[#marks + 1] = kind .. ARGV[i]
      marks[#marks + 1] = epoch
    end
  end
end
local settling = {}
-- Who learns of a change learns in the same answer that it settles.
if ARGV[4] == '1' or #marks > 0 then
  settling = redis.call('ZREVRANGE', KEYS[2], 0, 4 * ARGV[2], 'WITHSCORES')
end
return { time[1], time[2], top[2], floor, since, marks, settling }
