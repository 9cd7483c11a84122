// Generated from src/redis/lua/*.lua by scripts/embed-lua.mjs. Do not edit: run `npm run lua`.

export interface ScriptSource {
  readonly name: string
  readonly source: string
  readonly sha1: string
  readonly keys: number
  readonly argv: readonly string[]
}

export const scripts = {
  acquire: {
    name: "acquire",
    source: "local token, waitedFor, mode = ARGV[1], ARGV[4], ARGV[5]\nif mode ~= 'force' and ARGV[3] ~= 'unreadable' then\nlocal top = redis.pcall('GETRANGE', KEYS[1], 0, 41)\nif type(top) == 'string' and #top == 42 and string.sub(top, 1, 3) == 'bw\\001'\nand string.sub(top, 21, 42) ~= ARGV[3] then\nreturn { 'value', redis.call('GET', KEYS[1]) }\nend\nend\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nlocal record = redis.pcall('GET', KEYS[2])\nlocal holder, awaited, failed, collect, backoff, text\nlocal left = 0\nif type(record) == 'string' then\nholder, awaited, failed, collect, backoff, text =\nstring.match(record, '^bw1 (%S+) (%d+) (%S+) (%d+) (%d+) (.*)$')\nleft = redis.call('PTTL', KEYS[2])\nend\nif holder == nil or left < 0 then\nholder, awaited, failed, collect, backoff, text = '-', 0, '-', 0, 0, ''\nend\nawaited, collect, backoff = tonumber(awaited), tonumber(collect), tonumber(backoff)\nlocal function write(who, waiting, ...)\nlocal value = string.format('bw1 %s %.0f %s %.0f %.0f ', who, waiting, failed, collect, backoff)\nreturn redis.pcall('SET', KEYS[2], value .. text, ...)\nend\nif failed ~= '-' and failed == waitedFor and collect > now then\nreturn { 'failed', text, string.format('%.0f', math.max(0, backoff - now)) }\nend\nif holder == '-' then\nif backoff > now and mode ~= 'force' and mode ~= 'override' then\nreturn { 'backoff', text, string.format('%.0f', backoff - now) }\nend\nelseif holder ~= token and mode ~= 'force' then\nlocal waiting = now + left + 250\nif mode ~= 'take' and waiting > awaited then write(holder, waiting, 'KEEPTTL') end\nreturn { 'wait', left, holder }\nend\nif collect <= now then\nfailed, collect, backoff, text = '-', 0, 0, ''\nend\nif ARGV[6] == 'all' then awaited = 9e15 end\nlocal done = write(token, awaited, 'PX', ARGV[2])\nif done.err then\nreturn { 'nolease', string.match(done.err, '%u%u%u+') or 'ERR' }\nend\nreturn { 'lease' }",
    sha1: "e38c3ac1611a0afa38e1fc748ad6e426bb5e0cdc",
    keys: 2,
    argv: ["token","leaseMs","seen","waitedFor","mode","announces"],
  },
  body: {
    name: "body",
    source: "local length = redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])\nredis.call('PEXPIRE', KEYS[1], ARGV[3])\nreturn length",
    sha1: "c4412a831f7eb84ce00b459735b462a72d5c69d9",
    keys: 1,
    argv: ["at","piece","lifeMs"],
  },
  bump: {
    name: "bump",
    source: "for i = 1, 2 do\nlocal count = redis.pcall('ZCARD', KEYS[i])\nif type(count) == 'table' and string.find(count.err, 'WRONGTYPE') then redis.call('DEL', KEYS[i]) end\nend\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000000 + time[2]\nlocal previous = tonumber(redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])\nif not previous then\nprevious = math.max(now, ARGV[2] + 1)\nredis.call('ZADD', KEYS[1], string.format('%.0f', previous), 'f')\nend\nlocal epoch = previous\nif ARGV[1] ~= 's' then\nepoch = math.max(previous + 1, now, ARGV[2] + 1)\nfor i = 8, #ARGV do\nredis.call('ZADD', KEYS[1], string.format('%.0f', epoch), ARGV[1] .. ARGV[i])\nend\nlocal over = redis.call('ZCARD', KEYS[1]) - 1 - ARGV[4]\nif over > 0 then\nlocal floor = '0'\nfor _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, over)) do\nif member ~= 'f' then\nfloor = redis.call('ZSCORE', KEYS[1], member)\nredis.call('ZREM', KEYS[1], member)\nend\nend\nredis.call('ZADD', KEYS[1], floor, 'f')\nend\nend\nlocal settled = 0\nif ARGV[3] ~= '0' then\nsettled = math.floor(now / 1000) + ARGV[3]\nfor i = 8, #ARGV do\nredis.call('ZADD', KEYS[2], 'GT', string.format('%.0f', settled), ARGV[i])\nend\nlocal kept = ARGV[3] + 10000\nredis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now / 1000 - 10000))\nredis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[4])\nif redis.call('PTTL', KEYS[2]) < kept then redis.call('PEXPIRE', KEYS[2], string.format('%.0f', kept)) end\nend\nredis.call('PUBLISH', ARGV[5], ARGV[6] .. struct.pack('>ddd', epoch, previous, settled) .. ARGV[7])\nreturn { string.format('%.0f', epoch), string.format('%.0f', previous), string.format('%.0f', settled) }",
    sha1: "7f77926495d71040055e00f01658cc2dbab0bce6",
    keys: 2,
    argv: ["kind","known","settleMs","most","channel","head","tail","and"],
  },
  epochs: {
    name: "epochs",
    source: "for i = 1, 2 do\nlocal count = redis.pcall('ZCARD', KEYS[i])\nif type(count) == 'table' and string.find(count.err, 'WRONGTYPE') then redis.call('DEL', KEYS[i]) end\nend\nlocal time = redis.call('TIME')\nlocal top = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')\nif not top[2] then\nlocal begin = math.max(time[1] * 1000000 + time[2], ARGV[3] + 1)\ntop[2] = string.format('%.0f', begin)\nredis.call('ZADD', KEYS[1], top[2], 'f')\nend\nlocal floor = redis.call('ZSCORE', KEYS[1], 'f') or '0'\nlocal since = ARGV[1]\nlocal marks = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. since, 'WITHSCORES', 'LIMIT', 0, ARGV[2])\nif #marks >= 2 * ARGV[2] then since = marks[#marks] end\nfor i = 5, #ARGV do\nfor _, kind in ipairs({ 'g', 'e' }) do\nlocal epoch = redis.call('ZSCORE', KEYS[1], kind .. ARGV[i])\nif epoch then\nmarks[#marks + 1] = kind .. ARGV[i]\nmarks[#marks + 1] = epoch\nend\nend\nend\nlocal settling = {}\nif ARGV[4] == '1' or #marks > 0 then\nsettling = redis.call('ZREVRANGE', KEYS[2], 0, 4 * ARGV[2], 'WITHSCORES')\nend\nreturn { time[1], time[2], top[2], floor, since, marks, settling }",
    sha1: "22aca9f6a2b7e8fec3e5b8b0dd50c9f1f70f73bc",
    keys: 2,
    argv: ["since","most","known","settling","and"],
  },
  expire: {
    name: "expire",
    source: "local function apart(key)\nlocal top = redis.pcall('GETRANGE', key, 0, 7)\nif type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\\001' then return nil end\nlocal at = struct.unpack('>I4', top, 5)\nlocal body = redis.pcall('GETRANGE', key, at + 1, at + 31)\nif #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end\nreturn string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)\nend\nlocal function settle(before, body, life)\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nif before and before ~= body then redis.pcall('UNLINK', before) end\nend\nredis.call('DEL', KEYS[2])\nlocal kept = false\nlocal top = redis.pcall('GETRANGE', KEYS[1], 0, 97)\nif type(top) == 'string' and #top == 98 and string.sub(top, 1, 3) == 'bw\\001' then\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nlocal expiredAt = struct.unpack('>d', top, 13)\nlocal freshUntil, whileRevalidate, ifError = struct.unpack('>ddd', top, 59)\nlocal ended = math.min(freshUntil, now)\nif expiredAt > 0 then ended = math.min(ended, expiredAt) end\nlocal window = math.max(whileRevalidate, ifError)\nlocal life = math.ceil(ended + window - now)\nif window > 0 and life > 0 and life < 1e15 then\nlocal done = redis.pcall('SETRANGE', KEYS[1], 12, struct.pack('>d', ended))\nkept = type(done) == 'number'\nlocal left = redis.call('PTTL', KEYS[1])\nif kept and (left < 0 or life < left) then\nredis.call('PEXPIRE', KEYS[1], string.format('%.0f', life))\nlocal body = apart(KEYS[1])\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nend\nend\nend\nif kept then\nredis.call('PUBLISH', ARGV[1], ARGV[2])\nreturn 'expired'\nend\nlocal body = apart(KEYS[1])\nif body then redis.pcall('UNLINK', body) end\nredis.call('DEL', KEYS[1])\nredis.call('PUBLISH', ARGV[1], ARGV[3])\nreturn 'invalidated'",
    sha1: "ff378ac69703baf19094919cbb26686c625991e2",
    keys: 2,
    argv: ["channel","expired","invalidated"],
  },
  fail: {
    name: "fail",
    source: "local record = redis.pcall('GET', KEYS[1])\nlocal holder, awaited\nif type(record) == 'string' then\nholder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')\nend\nif holder ~= ARGV[1] then return 'lost' end\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nlocal marker = string.format('bw1 - 0 %s %.0f %.0f ', ARGV[1], now + ARGV[4], now + ARGV[3]) .. ARGV[2]\nlocal done = redis.pcall('SET', KEYS[1], marker, 'PX', ARGV[4])\nif done.err then redis.call('DEL', KEYS[1]) end\nif tonumber(awaited) > now then redis.pcall('PUBLISH', ARGV[5], ARGV[6]) end\nreturn 'ok'",
    sha1: "2f4176c3235d441501e1b3ed04b598424488d73e",
    keys: 1,
    argv: ["token","error","backoffMs","collectMs","channel","failed"],
  },
  guardAbandon: {
    name: "guardAbandon",
    source: "local held = redis.call('HMGET', KEYS[1], 'nextId', 'next')\nif held[1] ~= ARGV[1] then return 0 end\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nredis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2])\nredis.call('HDEL', KEYS[1], 'nextId', 'next', 'nextUntil')\nreturn 1",
    sha1: "22d049088899396c881658aad06dd1c8a7b462b6",
    keys: 1,
    argv: ["id"],
  },
  guardAdd: {
    name: "guardAdd",
    source: "local tag, last = tonumber(ARGV[1]), tonumber(ARGV[2]) * 8 - 32\nlocal ends = redis.pcall('BITFIELD', KEYS[1], 'GET', 'u32', 0, 'GET', 'u32', last)\nif ends.err or ends[1] ~= tag or ends[2] ~= tag then return -1 end\nlocal hashes, positions = tonumber(ARGV[3]), ARGV[4]\nlocal together = math.max(1, math.floor(256 / hashes))\nlocal form = '>' .. string.rep('I4', hashes)\nlocal added, at = 0, 1\nwhile at <= #positions do\nlocal words = { KEYS[1] }\nlocal ids = 0\nwhile ids < together and at <= #positions do\nlocal bits = { struct.unpack(form, positions, at) }\nat = bits[hashes + 1]\nids = ids + 1\nfor i = 1, hashes do\nlocal n = #words\nwords[n + 1], words[n + 2], words[n + 3], words[n + 4] = 'SET', 'u1', bits[i], 1\nend\nend\nlocal before = redis.call('BITFIELD', unpack(words))\nfor id = 0, ids - 1 do\nfor i = 1, hashes do\nif before[id * hashes + i] == 0 then\nadded = added + 1\nbreak\nend\nend\nend\nend\nlocal count = redis.call('BITFIELD', KEYS[1], 'OVERFLOW', 'SAT', 'INCRBY', 'u32', 32, added)\nif ARGV[6] ~= '' then redis.call('PUBLISH', ARGV[5], ARGV[6]) end\nreturn count[1]",
    sha1: "f384871dfb5db6cc8ed8b365fef0aeb8092ca2c0",
    keys: 1,
    argv: ["tag","bytes","hashes","positions","channel","message"],
  },
  guardBeat: {
    name: "guardBeat",
    source: "if redis.call('HGET', KEYS[1], 'nextId') ~= ARGV[1] then return 0 end\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nredis.call('HSET', KEYS[1], 'nextUntil', now + tonumber(ARGV[2]))\nreturn 1",
    sha1: "8a7fb57393e3d1931cbcc563218212e0f6e7be24",
    keys: 1,
    argv: ["id","lifeMs"],
  },
  guardCondemn: {
    name: "guardCondemn",
    source: "local held = redis.call('HMGET', KEYS[1], 'currentId', 'current')\nif held[1] ~= ARGV[1] then return 0 end\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nredis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2], 'lost', '1')\nredis.call('HDEL', KEYS[1], 'currentId', 'current')\nredis.call('PUBLISH', ARGV[2], ARGV[3])\nreturn 1",
    sha1: "1c8245e50f2bbf0da1611b81c17858f26002427d",
    keys: 1,
    argv: ["id","channel","message"],
  },
  guardCreate: {
    name: "guardCreate",
    source: "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end\nlocal bits = tonumber(ARGV[2]) * 8\nredis.call('SETBIT', KEYS[1], bits - 1, 0)\nredis.call('BITFIELD', KEYS[1], 'SET', 'u32', 0, ARGV[1], 'SET', 'u32', bits - 32, ARGV[1])\nredis.call('PEXPIRE', KEYS[1], ARGV[3])\nreturn 1",
    sha1: "eec04d90c9207211885b973f128e0c616bf60144",
    keys: 1,
    argv: ["tag","bytes","lifeMs"],
  },
  guardFlip: {
    name: "guardFlip",
    source: "local held = redis.call('HMGET', KEYS[1], 'nextId', 'next', 'currentId', 'current')\nif held[1] ~= ARGV[1] then return 0 end\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nif held[3] then redis.call('HSET', KEYS[1], 'old:' .. held[3], now .. ' ' .. held[4]) end\nredis.call('HSET', KEYS[1], 'currentId', held[1], 'current', held[2], 'built', '1')\nredis.call('HDEL', KEYS[1], 'nextId', 'next', 'nextUntil', 'lost')\nredis.call('PUBLISH', ARGV[2], ARGV[3])\nreturn 1",
    sha1: "ae65c9e2595fe9394c6fe73e99fb009d134ad8b2",
    keys: 1,
    argv: ["id","channel","message"],
  },
  guardMerge: {
    name: "guardMerge",
    source: "local tag, last = tonumber(ARGV[1]), tonumber(ARGV[2]) * 8 - 32\nlocal ends = redis.pcall('BITFIELD', KEYS[1], 'GET', 'u32', 0, 'GET', 'u32', last)\nif ends.err or ends[1] ~= tag or ends[2] ~= tag then return -1 end\nlocal life = redis.call('PTTL', KEYS[1])\nredis.call('SET', KEYS[2], ARGV[3])\nredis.call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[2])\nredis.call('DEL', KEYS[2])\nif life > 0 then redis.call('PEXPIRE', KEYS[1], life) end\nreturn redis.call('BITFIELD', KEYS[1], 'OVERFLOW', 'SAT', 'INCRBY', 'u32', 32, ARGV[4])[1]",
    sha1: "b860d03871855c90ed7d499c1ae1970c3c71d021",
    keys: 2,
    argv: ["tag","bytes","bits","added"],
  },
  guardOpen: {
    name: "guardOpen",
    source: "local time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\nlocal held = redis.call('HMGET', KEYS[1], 'nextId', 'next', 'nextUntil', 'built')\nif held[1] and tonumber(held[3]) > now then return { 'busy', tonumber(held[3]) - now } end\nif ARGV[4] == 'first' and held[4] then return { 'exists' } end\nif held[1] then redis.call('HSET', KEYS[1], 'old:' .. held[1], now .. ' ' .. held[2]) end\nredis.call('HSET', KEYS[1], 'nextId', ARGV[1], 'next', ARGV[2], 'nextUntil', now + tonumber(ARGV[3]))\nreturn { 'ok' }",
    sha1: "a4f9a586a7735b8074ae6e96a07d1653e221e4a6",
    keys: 1,
    argv: ["id","epoch","lifeMs","mode"],
  },
  guardRead: {
    name: "guardRead",
    source: "local time = redis.call('TIME')\nreturn { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGETALL', KEYS[1]) }",
    sha1: "53eb9e86e87f6237897251e590b1013674b4ddfe",
    keys: 1,
    argv: [],
  },
  invalidate: {
    name: "invalidate",
    source: "local function apart(key)\nlocal top = redis.pcall('GETRANGE', key, 0, 7)\nif type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\\001' then return nil end\nlocal at = struct.unpack('>I4', top, 5)\nlocal body = redis.pcall('GETRANGE', key, at + 1, at + 31)\nif #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end\nreturn string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)\nend\nlocal function settle(before, body, life)\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nif before and before ~= body then redis.pcall('UNLINK', before) end\nend\nredis.call('PUBLISH', ARGV[1], ARGV[2])\nlocal body = apart(KEYS[1])\nif body then redis.pcall('UNLINK', body) end\nredis.call('DEL', KEYS[1], KEYS[2])\nreturn 'ok'",
    sha1: "f5bfdaab93db77f2e9ddd7ed982be4719069e6aa",
    keys: 2,
    argv: ["channel","invalidated"],
  },
  publish: {
    name: "publish",
    source: "local function apart(key)\nlocal top = redis.pcall('GETRANGE', key, 0, 7)\nif type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\\001' then return nil end\nlocal at = struct.unpack('>I4', top, 5)\nlocal body = redis.pcall('GETRANGE', key, at + 1, at + 31)\nif #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end\nreturn string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)\nend\nlocal function settle(before, body, life)\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nif before and before ~= body then redis.pcall('UNLINK', before) end\nend\nlocal frame = ARGV[3]\nlocal record = redis.pcall('GET', KEYS[2])\nlocal holder, awaited\nif type(record) == 'string' then\nholder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')\nend\nlocal top = redis.pcall('GETRANGE', KEYS[1], 0, 41)\nif type(top) ~= 'string' then top = '' end\nif holder ~= ARGV[1] then\nif string.sub(top, 1, 3) == 'bw\\001' and string.sub(top, 21, 42) == ARGV[1] then return 'ok' end\nif not record then redis.pcall('PUBLISH', ARGV[4], ARGV[6]) end\nreturn 'fenced'\nend\nlocal answer, refused = 'ok', nil\nif string.sub(top, 1, 2) == 'bw' and (string.byte(top, 3) or 0) > 1 then\nanswer = 'kept'\nelse\nlocal before = apart(KEYS[1])\nlocal done = redis.pcall('SET', KEYS[1], frame, 'PX', ARGV[2])\nif done.err then refused = done else settle(before, apart(KEYS[1]), ARGV[2]) end\nend\nredis.pcall('DEL', KEYS[2])\nlocal time = redis.call('TIME')\nif tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then\nif #frame <= 1024 then\nredis.pcall('PUBLISH', ARGV[4], ARGV[5] .. frame)\nelseif refused or answer == 'kept' then\nredis.pcall('PUBLISH', ARGV[4], ARGV[6])\nelse\nredis.pcall('PUBLISH', ARGV[4], ARGV[5])\nend\nend\nreturn refused or answer",
    sha1: "da7e10343c1c069727caedd7388474827b9dce2c",
    keys: 2,
    argv: ["token","lifeMs","frame","channel","published","released"],
  },
  release: {
    name: "release",
    source: "local record = redis.pcall('GET', KEYS[1])\nlocal holder, awaited\nif type(record) == 'string' then\nholder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')\nend\nif holder ~= ARGV[1] then return 'lost' end\nredis.call('DEL', KEYS[1])\nlocal time = redis.call('TIME')\nif tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then\nredis.pcall('PUBLISH', ARGV[2], ARGV[3])\nend\nreturn 'ok'",
    sha1: "719c79ce211316cd04fdb937b0253f317cebfee0",
    keys: 1,
    argv: ["token","channel","released"],
  },
  renew: {
    name: "renew",
    source: "local record = redis.pcall('GET', KEYS[1])\nlocal holder, awaited\nif type(record) == 'string' then\nholder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')\nend\nif holder ~= ARGV[1] then return 'lost' end\nredis.call('PEXPIRE', KEYS[1], ARGV[2])\nlocal time = redis.call('TIME')\nreturn tonumber(awaited) > time[1] * 1000 + time[2] / 1000 and 'awaited' or 'alone'",
    sha1: "e234e295241a6e696d6a49bfc7b4b14431ebcea6",
    keys: 1,
    argv: ["token","leaseMs"],
  },
  tokens: {
    name: "tokens",
    source: "local wanted, perSecond, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])\nlocal time = redis.call('TIME')\nlocal now = time[1] * 1000 + time[2] / 1000\nlocal state = redis.pcall('GET', KEYS[1])\nlocal tokens, at\nif type(state) == 'string' then tokens, at = string.match(state, '^(%S+) (%S+)$') end\ntokens = tonumber(tokens or burst) + math.max(0, now - (at or now)) * perSecond / 1000\ntokens = math.min(burst, tokens)\nlocal granted = math.min(wanted, math.floor(tokens))\ntokens = tokens - granted\nlocal fullIn = math.ceil((burst - tokens) * 1000 / perSecond) + 1000\nredis.call('SET', KEYS[1], string.format('%.6f %.3f', tokens, now), 'PX', string.format('%.0f', fullIn))\nlocal wait = 0\nif granted < wanted then wait = math.ceil((1 - tokens) * 1000 / perSecond) end\nreturn { granted, wait }",
    sha1: "cf68c6190ff67e03c381c0c611e6eed61a63b641",
    keys: 1,
    argv: ["wanted","perSecond","burst"],
  },
  touch: {
    name: "touch",
    source: "local function apart(key)\nlocal top = redis.pcall('GETRANGE', key, 0, 7)\nif type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\\001' then return nil end\nlocal at = struct.unpack('>I4', top, 5)\nlocal body = redis.pcall('GETRANGE', key, at + 1, at + 31)\nif #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end\nreturn string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)\nend\nlocal function settle(before, body, life)\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nif before and before ~= body then redis.pcall('UNLINK', before) end\nend\nlocal record = redis.pcall('GET', KEYS[2])\nlocal holder, awaited\nif type(record) == 'string' then\nholder, awaited = string.match(record, '^bw1 (%S+) (%d+) ')\nend\nlocal top = redis.pcall('GETRANGE', KEYS[1], 0, 41)\nlocal stamp = nil\nif type(top) == 'string' and #top == 42 and string.sub(top, 1, 3) == 'bw\\001' then\nstamp = string.sub(top, 21, 42)\nend\nif holder ~= ARGV[1] then return stamp == ARGV[1] and 'ok' or 'fenced' end\nif stamp ~= ARGV[4] then return 'gone' end\nlocal body = apart(KEYS[1])\nif body and redis.pcall('PEXPIRE', body, tonumber(ARGV[2]) + 60000) ~= 1 then return 'gone' end\nlocal old = redis.call('GET', KEYS[1])\nlocal frame = ARGV[3] .. string.sub(old, struct.unpack('>I4', old, 5) + 1)\nlocal done = redis.pcall('SET', KEYS[1], frame, 'PX', ARGV[2])\nredis.pcall('DEL', KEYS[2])\nlocal time = redis.call('TIME')\nif tonumber(awaited) > time[1] * 1000 + time[2] / 1000 then\nif #frame <= 1024 then\nredis.pcall('PUBLISH', ARGV[5], ARGV[6] .. frame)\nelseif done.err then\nredis.pcall('PUBLISH', ARGV[5], ARGV[7])\nelse\nredis.pcall('PUBLISH', ARGV[5], ARGV[6])\nend\nend\nif done.err then return done end\nreturn 'ok'",
    sha1: "0c7313a33aca253adad2f77d06c8b4392eb50e5c",
    keys: 2,
    argv: ["token","lifeMs","head","seen","channel","published","released"],
  },
  write: {
    name: "write",
    source: "local function apart(key)\nlocal top = redis.pcall('GETRANGE', key, 0, 7)\nif type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\\001' then return nil end\nlocal at = struct.unpack('>I4', top, 5)\nlocal body = redis.pcall('GETRANGE', key, at + 1, at + 31)\nif #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end\nreturn string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)\nend\nlocal function settle(before, body, life)\nif body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end\nif before and before ~= body then redis.pcall('UNLINK', before) end\nend\nlocal time = redis.call('TIME')\nif time[1] * 1000 + time[2] / 1000 > tonumber(ARGV[3]) then return 'late' end\nlocal top = redis.pcall('GETRANGE', KEYS[1], 0, 2)\nlocal newer = type(top) == 'string' and string.sub(top, 1, 2) == 'bw' and (string.byte(top, 3) or 0) > 1\nredis.call('PUBLISH', ARGV[4], ARGV[5])\nif not newer then\nlocal before = apart(KEYS[1])\nredis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])\nsettle(before, apart(KEYS[1]), ARGV[1])\nend\nredis.call('DEL', KEYS[2])\nreturn newer and 'kept' or 'ok'",
    sha1: "5ca64b37fde8d4d5846a28525cc57ecb5f43d3a2",
    keys: 2,
    argv: ["lifeMs","frame","notAfter","channel","written"],
  },
} as const satisfies Record<string, ScriptSource>
