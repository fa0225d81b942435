-- Asks Portcullis about a call, for apache.conf: /verify is asked with the call's own method and path.

require("apache2")
local socket = require("socket")

local address, port = "127.0.0.1", 8080
local trusted = { "X-User-ID", "X-Account-ID", "X-Action", "X-Principal-Kind", "X-Request-ID", "X-Portcullis-Assertion" }
local asked = { "Authorization", "X-API-Key", "X-Request-ID", "X-Consistency", "Idempotency-Key", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version" }

-- ask returns the status and the headers of the answer by their names in small letters; nil without one.
local function ask(r)
	local lines = { r.method .. " /verify" .. r.unparsed_uri .. " HTTP/1.1", "Host: " .. (r.headers_in["Host"] or ""), "Connection: close" }
	for _, name in ipairs(asked) do
		local value = r.headers_in[name]
		if value then
			lines[#lines + 1] = name .. ": " .. value
		end
	end
	local c = socket.tcp()
	c:settimeout(1)
	if not c:connect(address, port) then
		return nil
	end
	c:settimeout(2, "t") -- for all of the answer
	c:send(table.concat(lines, "\r\n") .. "\r\n\r\n")
	local line = c:receive("*l")
	local status = line and line:match("^HTTP/1%.1 (%d%d%d)")
	local headers = {}
	while status do
		line = c:receive("*l")
		if not line then
			status = nil -- the head has no end
		elseif line == "" then
			break
		else
			local name, value = line:match("^([^:]+):%s*(.-)%s*$")
			if name then
				headers[name:lower()] = value
			end
		end
	end
	c:close()
	return tonumber(status), headers
end

function check(r)
	-- A header that Connection names ends at Apache: the service would miss what the gateway says.
	if (r.headers_in["Connection"] or ""):lower():find("x-", 1, true) then
		return 400
	end
	local status, headers = ask(r)
	if not status or status < 200 then
		return 503
	end
	if status ~= 200 then
		for _, name in ipairs({ "WWW-Authenticate", "Retry-After" }) do
			r.err_headers_out[name] = headers[name:lower()]
		end
		return status
	end
	for name in pairs(r:headers_in_table()) do -- some services read an underscore as a hyphen
		if name:find("_", 1, true) then
			r.headers_in[name] = nil
		end
	end
	for _, name in ipairs(trusted) do
		local value = headers[name:lower()]
		r.headers_in[name] = value ~= "" and value or nil
	end
	for _, name in ipairs({ "Authorization", "X-API-Key" }) do -- the credential ends here
		r.headers_in[name] = nil
	end
	return apache2.OK
end
