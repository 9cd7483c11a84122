-- Puts a piece of a body that lies apart from its frame. It ends by itself soon, unless its frame comes.
-- KEYS[1] body
-- ARGV[1] at where the piece begins
-- ARGV[2] piece
-- ARGV[3] lifeMs
-- returns the length by now
local length = redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return length
