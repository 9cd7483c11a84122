-- Answers with a frame that the caller has not seen, or grants the lease, or tells who has it.
-- The lease is one string: `bw1 holder awaitedUntil failed collectUntil backoffUntil error`, where
-- `-` stands for nobody and instants are this server's own, in ms. Anything else is not ours.
-- What needs no write is answered also while the server refuses writes.
-- KEYS[1] frame
-- KEYS[2] lease
-- ARGV[1] token the caller's
-- ARGV[2] leaseMs
-- ARGV[3] seen stamp of the frame that the caller has seen, empty for none, or `unreadable`
-- ARGV[4] waitedFor token whose load the caller waited for, or empty
-- ARGV[5] mode 'take', 'wait' (notes that somebody waits), 'override' (the same, past any back-off), 'force' (replaces the holder)
-- ARGV[6] announces 'all' where everyone is to be told how this load ends, else empty
-- returns {'value', frame} {'lease'} {'wait', ms, token} {'failed', error, backoffMs} {'backoff', error, ms} {'nolease', why}
local token, waitedFor, mode = ARGV[1], ARGV[4], ARGV[5]

-- core/frame.ts: magic, version 1, stamp at 20 of 22 characters
if mode ~= 'force' and ARGV[3] ~= 'unreadable' then
  local top = redis.pcall('GETRANGE', KEYS[1], 0, 41)
  if type(top) == 'string' and #top == 42 and string.sub(top, 1, 3) == 'bw\001'
    and string.sub(top, 21, 42) ~= ARGV[3] then
    return { 'value', redis.call('GET', KEYS[1]) }
  end
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local record = redis.pcall('GET', KEYS[2])
local holder, awaited, failed, collect, backoff, text
local left = 0
if type(record) == 'string' then
  holder, awaited, failed, collect, backoff, text =
    string.match(record, '^bw1 (%S+) (%d+) (%S+) (%d+) (%d+) (.*)$')
  left = redis.call('PTTL', KEYS[2])
end
-- A lease without an expiry would wedge the key: whoever made it, it was not us.
if holder == nil or left < 0 then
  holder, awaited, failed, collect, backoff, text = '-', 0, '-', 0, 0, ''
end
awaited, collect, backoff = tonumber(awaited), tonumber(collect), tonumber(backoff)

local function write(who, waiting, ...)
  local value = string.format('bw1 %s %.0f %s %.0f %.0f ', who, waiting, failed, collect, backoff)
  return redis.pcall('SET', KEYS[2], value .. text, ...)
end

if failed ~= '-' and failed == waitedFor and collect > now then
  return { 'failed', text, string.format('%.0f', math.max(0, backoff - now)) }
end
if holder == '-' then
  if backoff > now and mode ~= 'force' and mode ~= 'override' then
    return { 'backoff', text, string.format('%.0f', backoff - now) }
  end
elseif holder ~= token and mode ~= 'force' then
  local waiting = now + left + 250
  -- Refused (OOM …): then nobody wakes this waiter, who polls anyway.
  if mode ~= 'take' and waiting > awaited then write(holder, waiting, 'KEEPTTL') end
  return { 'wait', left, holder }
end

-- Those who waited for the load that failed may still ask, whoever loads by now.
if collect <= now then
  failed, collect, backoff, text = '-', 0, 0, ''
end
-- Awaited for ever: every end of it is published.
if ARGV[6] == 'all' then awaited = 9e15 end
local done = write(token, awaited, 'PX', ARGV[2])
if done.err then
  return { 'nolease', string.match(done.err, '%u%u%u+') or 'ERR' }
end
return { 'lease' }
