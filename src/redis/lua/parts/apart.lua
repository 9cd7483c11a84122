-- The key of the body that lies apart from this frame (core/frame.ts), if one does. In its slot, and
-- named by nothing but the frame itself, so that it goes when the frame goes. Where its slot is on its
-- way to another server it may be out of reach, and ends by itself.
-- core/frame.ts: u32 length of the head at 4; in the body u8 at 1, whose bit 0x40 says so, and 22
-- characters at 10, its name. redis/layout.ts: the frame's key ends with 'v'.
local function apart(key)
  local top = redis.pcall('GETRANGE', key, 0, 7)
  if type(top) ~= 'string' or #top < 8 or string.sub(top, 1, 3) ~= 'bw\001' then return nil end
  local at = struct.unpack('>I4', top, 5)
  local body = redis.pcall('GETRANGE', key, at + 1, at + 31)
  if #body < 31 or string.byte(body, 1) % 128 < 64 then return nil end
  return string.sub(key, 1, -2) .. 'b:' .. string.sub(body, 10, 31)
end
-- After a frame was stored: its body lives as long, and the minute that redis/bodies.ts gives it; the
-- one of before goes. Unless it is the same: a client sends once more what it has had no reply to.
local function settle(before, body, life)
  if body then redis.pcall('PEXPIRE', body, string.format('%.0f', life + 60000)) end
  if before and before ~= body then redis.pcall('UNLINK', before) end
end
