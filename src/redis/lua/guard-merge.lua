-- Sets all the bits that the builder has collected for a shard of its epoch.
-- KEYS[1] shard
-- KEYS[2] scratch in the same slot
-- ARGV[1] tag
-- ARGV[2] bytes
-- ARGV[3] bits a whole shard, without tags and count
-- ARGV[4] added how many ids these are
-- returns how many were added so far, or -1 when it is lost
local tag, last = tonumber(ARGV[1]), tonumber(ARGV[2]) * 8 - 32
local ends = redis.pcall('BITFIELD', KEYS[1], 'GET', 'u32', 0, 'GET', 'u32', last)
if ends.err or ends[1] ~= tag or ends[2] ~= tag then return -1 end
local life = redis.call('PTTL', KEYS[1])
redis.call('SET', KEYS[2], ARGV[3])
redis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[2])
redis.call('DEL', KEYS[2])
if life > 0 then redis.call('PEXPIRE', KEYS[1], life) end
return redis.call('BITFIELD', KEYS[1], 'OVERFLOW', 'SAT', 'INCRBY', 'u32', 32, ARGV[4])[1]
