-- Makes an entry unusable: frame and lease go together, so that a load that runs cannot publish.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] channel
-- ARGV[2] invalidated message
-- returns 'ok'

--@ apart

-- Told first: a user who may not publish changes nothing. Nobody acts on it before the script ends.
redis.call('PUBLISH', ARGV[1], ARGV[2])
local body = apart(KEYS[1])
if body then redis.pcall('UNLINK', body) end
redis.call('DEL', KEYS[1], KEYS[2])
return 'ok'
