-- KEYS[1] is when the bucket is full, in microseconds; ARGV: interval, burst, how many, and how many at least.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local interval, burst, wanted, least = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local last = now + interval * burst
local full = tonumber(redis.call('GET', KEYS[1]) or '') or now
if not (full >= now) then full = now end -- whatever stood there, also what is no number
if full > last then full = last end
local given = math.min(wanted, math.floor((last - full) / interval + 0.000001))
if given < least then given = 0 end
if given > 0 then
  full = full + interval * given
  redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil((full - now) / 1000))
end
return {given, math.ceil(full - now)}
