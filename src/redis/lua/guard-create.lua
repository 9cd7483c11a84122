-- An empty shard: its tag at both ends (at the end, so that a cut-off string is no shard), a count
-- of what was added behind the first. SETBIT on an absent key allocates exactly as much as it needs.
-- KEYS[1] shard
-- ARGV[1] tag not 0
-- ARGV[2] bytes
-- ARGV[3] lifeMs a builder that crashes leaves nothing
-- returns 1, or 0 when there is one
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local bits = tonumber(ARGV[2]) * 8
redis.call('SETBIT', KEYS[1], bits - 1, 0)
redis.call('BITFIELD', KEYS[1], 'SET', 'u32', 0, ARGV[1], 'SET', 'u32', bits - 32, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
