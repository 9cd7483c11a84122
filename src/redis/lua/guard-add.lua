-- Sets the bits of some ids in a shard that is there, and then tells those who keep a copy. A shard
-- without its tag is lost: written to, it would come back empty, and refuse what it has forgotten.
-- KEYS[1] shard
-- ARGV[1] tag
-- ARGV[2] bytes
-- ARGV[3] hashes
-- ARGV[4] positions 4 bytes each, `hashes` for each id
-- ARGV[5] channel
-- ARGV[6] message or nothing
-- returns how many were added so far, or -1 when it is lost
local tag, last = tonumber(ARGV[1]), tonumber(ARGV[2]) * 8 - 32
local ends = redis.pcall('BITFIELD', KEYS[1], 'GET', 'u32', 0, 'GET', 'u32', last)
if ends.err or ends[1] ~= tag or ends[2] ~= tag then return -1 end

local hashes, positions = tonumber(ARGV[3]), ARGV[4]
local together = math.max(1, math.floor(256 / hashes))
local form = '>' .. string.rep('I4', hashes)
local added, at = 0, 1
while at <= #positions do
  local words = { KEYS[1] }
  local ids = 0
  while ids < together and at <= #positions do
    local bits = { struct.unpack(form, positions, at) }
    at = bits[hashes + 1]
    ids = ids + 1
    for i = 1, hashes do
      local n = #words
      words[n + 1], words[n + 2], words[n + 3], words[n + 4] = 'SET', 'u1', bits[i], 1
    end
  end
  local before = redis.call('BITFIELD', unpack(words))
  for id = 0, ids - 1 do
    for i = 1, hashes do
      if before[id * hashes + i] == 0 then
        added = added + 1
        break
      end
    end
  end
end

local count = redis.call('BITFIELD', KEYS[1], 'OVERFLOW', 'SAT', 'INCRBY', 'u32', 32, added)
if ARGV[6] ~= '' then redis.call('PUBLISH', ARGV[5], ARGV[6]) end
return count[1]
