-- Makes an entry unusable: frame and lease go together, so that a load that runs cannot publish.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] channel
-- ARGV[2] invalidated message
-- returns 'ok'
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 'ok'
