-- Asks Portcullis about a call, for haproxy.cfg. The call goes on where txn.portcullis is "allowed".

local address = os.getenv("PORTCULLIS")
local trusted = { "x-user-id", "x-account-id", "x-action", "x-principal-kind", "x-request-id", "x-portcullis-assertion" }

core.register_action("portcullis", { "http-req" }, function(txn)
	local sent = txn.http:req_get_headers()
	local function all(name) -- a header that was sent twice stays two
		local values = {}
		for i, value in pairs(sent[name] or {}) do
			values[i + 1] = value
		end
		return values
	end
	local headers = {
		["x-original-method"] = { txn.sf:method() },
		["x-original-uri"] = { txn.sf:pathq() },
		["x-forwarded-host"] = all("host"),
	}
	for _, name in ipairs({
		"authorization", "x-api-key", "x-request-id", "x-consistency", "idempotency-key",
		"mcp-method", "mcp-name", "mcp-protocol-version",
	}) do
		local values = all(name)
		if #values > 0 then
			headers[name] = values
		end
	end

	-- HAProxy tries up to four times.
	local answer = core.httpclient():get({ url = address .. "/forward-auth", headers = headers, timeout = 1000 })
	if answer.status == 200 then
		for _, name in ipairs(trusted) do
			local values = answer.headers[name]
			txn.http:req_del_header(name)
			if values and values[0] and values[0] ~= "" then
				txn.http:req_set_header(name, values[0])
			end
		end
		txn:set_var("txn.portcullis", "allowed")
	elseif answer.status >= 400 then
		local reply = txn:reply({ status = answer.status, body = answer.body })
		for _, name in ipairs({ "content-type", "cache-control", "www-authenticate", "retry-after", "x-request-id" }) do
			local values = answer.headers[name]
			if values and values[0] then
				reply:add_header(name, values[0])
			end
		end
		txn:done(reply)
	end
end)
