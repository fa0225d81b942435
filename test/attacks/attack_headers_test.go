package attacks_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// headerAttacks guarantees that an identity header with two readings is refused on every kind of
// route. Headers trusted by other gateways change nothing. An identity ends with its request.
// Probes are on the private listener alone.
func headerAttacks(w *attacksWorld, r *refusals) {
	r.unjudged("identity headers in two readings", func() { r.all(w.spelt()) })
	r.unjudged("credentials in two readings", func() { r.all(w.credentialTwice()) })
	r.unchanged("headers that others trust", func() { trusted(w, r) })
	r.unchanged("one connection", func() { oneConnection(w, r) })
	r.unjudged("probes on the edge", func() { probes(w, r) })
	hopByHop(w, r)
}

// route is an endpoint with identity headers, as a request of an allowed caller.
type route struct {
	name, method, target, body string
	lines                      []string
	// means are the headers whose values the route reads.
	means map[string]bool
}

func (w *attacksWorld) routes() []route {
	tenant := w.tenant
	user, account := "X-User-ID", "X-Account-ID"
	both := map[string]bool{user: true, account: true}
	claims := []string{"X-User-ID: " + tenant.admin, "X-Account-ID: " + tenant.account}
	return []route{
		{"authorization.check", "POST", "/api/v1/authorize/projects/" + tenant.project + "/x", "", append([]string{bearer(w.checker), "X-Action: project:x:read"}, claims...), map[string]bool{user: true, account: true, "X-Action": true}},
		{"security_group.list", "GET", tenant.path(tenant.sgPath(tenant.project, "")), "", append([]string{bearer(tenant.adminToken)}, claims...), both},
		{"security_group.create", "POST", tenant.path(tenant.sgPath(tenant.project, "")), `{"project_id":"` + tenant.project + `","name":"new"}`, append([]string{bearer(tenant.adminToken)}, claims...), both},
		{"user.update", "PUT", "/api/v1/users/" + tenant.bobUUID, `{"name":"New"}`, append([]string{bearer(tenant.adminToken)}, claims...), map[string]bool{account: true}},
		{"role.list", "GET", tenant.path("/roles"), "", append([]string{bearer(tenant.adminToken)}, claims...), nil},
		{"project.create", "POST", tenant.path("/projects"), `{"name":"new"}`, append([]string{bearer(tenant.adminToken), "Idempotency-Key: once"}, claims...), nil},
	}
}

// spelt are identity headers beside another one of the same name in another spelling, and alone in
// a spelling that some servers read.
func (w *attacksWorld) spelt() []attack {
	var out []attack
	for _, route := range w.routes() {
		for i, line := range route.lines {
			name, value, _ := strings.Cut(line, ": ")
			if name == "Authorization" {
				continue
			}
			removed := slices.Delete(slices.Clone(route.lines), i, i+1)
			ways := spellings(name, value)
			if route.means[name] {
				maps.Copy(ways, oddValues(name, value))
			}
			for title, lines := range ways {
				raw := request(route.method, route.target, route.body, append(slices.Clone(removed), lines...)...)
				want := []int{400}
				if route.name == "security_group.create" || route.name == "security_group.list" {
					want = []int{400, 401} // claims that are not the path's or the caller's
				}
				out = append(out, attack{name: route.name + ", " + name + " " + title, raw: raw, want: want})
			}
		}
	}
	return out
}

// spellings are ways to send a header so that servers differ about its value.
func spellings(name, value string) map[string][]string {
	out := map[string][]string{
		"padded": {name + ":  " + value}, "padded behind": {name + ": " + value + " "}, "with a tab": {name + ":\t" + value}, "with a tab behind": {name + ": " + value + "\t"}, "beside an empty one": {name + ": " + value, name + ":"},
		"behind an empty one": {name + ":", name + ": " + value}, "three times": {name + ": " + value, name + ": " + value, name + ": " + value}, "padded beside": {name + ": " + value, name + ":  " + value},
	}
	for i, c := range name {
		if c == '-' {
			out[fmt.Sprintf("with _ at %d", i)] = []string{name[:i] + "_" + name[i+1:] + ": " + value}
		}
	}
	for _, other := range []string{value, "mallory", "user-oursadmin-v1", "acct-theirs-v1", ""} {
		for _, spelt := range []string{name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"), strings.ToLower(strings.ReplaceAll(name, "-", "_")), strings.ToUpper(strings.ReplaceAll(name, "-", "_")), strings.Replace(name, "-", "_", 1)} {
			out[fmt.Sprintf("then %s: %q", spelt, other)] = []string{name + ": " + value, spelt + ": " + other}
			out[fmt.Sprintf("after %s: %q", spelt, other)] = []string{spelt + ": " + other, name + ": " + value}
		}
	}
	return out
}

// oddValues are values other than an id or action, though some server reads one in them.
func oddValues(name, value string) map[string][]string {
	out := map[string][]string{}
	for title, odd := range map[string]string{
		"joined": value + "," + value, "joined with a space": value + ", mallory", "quoted": `"` + value + `"`, "with a semicolon": value + ";x", "encoded": "=?utf-8?q?" + value + "?=", "escaped": fmt.Sprintf("%%%02x", value[0]) + value[1:],
		"with a slash": value + "/", "with a no-break space": value + "\u00a0", "in wide letters": "\uff55" + value, "with a zero-width space": value + "\u200b", "too long": value + strings.Repeat("a", 129),
	} {
		out[title] = []string{name + ": " + odd}
	}
	return out
}

// credentialTwice are credentials that name more than one, or nobody for some servers.
func (w *attacksWorld) credentialTwice() []attack {
	tenant := w.tenant
	var out []attack
	for _, route := range w.routes() {
		rest := route.lines[1:]
		for title, lines := range map[string][]string{
			"twice": {bearer(tenant.adminToken), bearer(tenant.adminToken)}, "two": {bearer(tenant.adminToken), bearer(tenant.bobToken)}, "in lower case beside": {bearer(tenant.bobToken), "authorization: Bearer " + tenant.adminToken}, "in upper case beside": {bearer(tenant.bobToken), "AUTHORIZATION: Bearer " + tenant.adminToken},
			"an empty one beside": {bearer(tenant.adminToken), "Authorization:"}, "an empty one before": {"Authorization:", bearer(tenant.adminToken)}, "padded": {"Authorization:   Bearer " + tenant.adminToken}, "padded behind": {bearer(tenant.adminToken) + " "},
			"two keys": {"X-API-Key: " + tenant.keySecret, "X-API-Key: " + tenant.readKey}, "a key twice": {"X-API-Key: " + tenant.keySecret, "x-api-key: " + tenant.keySecret}, "a key with underscores": {"X_API_Key: " + tenant.keySecret}, "a key with an underscore": {"X-API_Key: " + tenant.keySecret},
			"a key with underscores beside": {bearer(tenant.adminToken), "x_api_key: " + tenant.keySecret}, "a key beside another's token": {bearer(tenant.bobToken), "X-API-Key: " + tenant.keySecret}, "a key beside another account's token": {bearer(w.foreign.adminToken), "X-API-Key: " + tenant.keySecret},
			"another key beside": {bearer(tenant.readKey), "X-API-Key: " + tenant.keySecret},
		} {
			out = append(out, attack{name: route.name + ", credential " + title, raw: request(route.method, route.target, route.body, append(slices.Clone(lines), rest...)...), want: []int{400}})
		}
		for title, lines := range map[string][]string{
			"none": nil, "empty": {"Authorization:"}, "another scheme": {"Authorization: Basic " + tenant.adminToken}, "no scheme": {"Authorization: " + tenant.adminToken}, "two in one": {bearer(tenant.adminToken + "," + tenant.adminToken)}, "two schemes": {"Authorization: Bearer Bearer " + tenant.adminToken},
			"a cookie": {"Cookie: token=" + tenant.adminToken + "; access_token=" + tenant.adminToken}, "X-Access-Token": {"X-Access-Token: " + tenant.adminToken, "X-Auth-Token: " + tenant.adminToken}, "Proxy-Authorization": {"Proxy-Authorization: Bearer " + tenant.adminToken}, "a tab": {"Authorization: Bearer\t" + tenant.adminToken},
			"Token": {"Authorization: Token " + tenant.adminToken}, "a key in another header": {"X-Api-Token: " + tenant.keySecret, "Api-Key: " + tenant.keySecret}, "an empty key": {"X-API-Key:"}, "an empty key beside a token": {bearer(tenant.adminToken), "X-API-Key:"}, "a quoted token": {`Authorization: Bearer "` + tenant.adminToken + `"`},
			"the health checker's": {"User-Agent: kube-probe/1.30"}, "a proxy's user": {"X-Forwarded-User: " + tenant.admin, "X-Remote-User: " + tenant.admin, "Remote-User: " + tenant.admin, "X-User: " + tenant.admin}, "from this machine": {"X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"},
			"the gateway's own word": {"X-Portcullis-Assertion: " + tenant.adminToken, "X-Principal-Kind: service"}, "options of a browser": {"Origin: http://evil.example", "Access-Control-Request-Method: POST"},
		} {
			out = append(out, attack{name: route.name + ", credential " + title, raw: request(route.method, route.target, route.body, append(slices.Clone(lines), rest...)...), want: []int{401}})
		}
	}
	return out
}

// trusted are headers that other gateways act on: with each of them, what is denied stays denied
// in the same words, and what has no route has none.
func trusted(w *attacksWorld, r *refusals) {
	tenant := w.tenant
	plain := func(lines ...string) []string {
		return []string{
			request("GET", tenant.path("/roles"), "", append([]string{bearer(tenant.bobToken)}, lines...)...), request("POST", tenant.path("/projects"), `{"name":"new"}`, append([]string{bearer(tenant.bobToken)}, lines...)...),
			request("DELETE", w.foreign.path("/groups/"+w.foreign.group), "", append([]string{bearer(tenant.adminToken)}, lines...)...), request("GET", "/metrics", "", append([]string{bearer(tenant.adminToken)}, lines...)...),
			request("POST", tenant.path("/roles/users/"+tenant.bob), "{}", append([]string{bearer(tenant.bobToken)}, lines...)...),
		}
	}
	want := []int{403, 403, 403, 404, 405}
	var bodies []string
	for i, raw := range plain() {
		bodies = append(bodies, r.refuse("without", raw, want[i]).Body)
	}
	for _, line := range []string{
		"X-Forwarded-For: 127.0.0.1", "X-Real-IP: ::1", "Forwarded: for=127.0.0.1;proto=https", "X-Forwarded-Host: localhost:9002", "X-Forwarded-Proto: https", "X-Forwarded-Port: 9002", "X-Forwarded-Prefix: /api/v1", "X-Forwarded-Uri: /openapi.json", "X-Forwarded-Method: GET", "X-Forwarded-Path: /openapi.json",
		"X-Original-URL: /openapi.json", "X-Original-URI: /openapi.json", "X-Rewrite-URL: /openapi.json", "X-Envoy-Original-Path: /openapi.json", "X-Original-Method: GET", "X-HTTP-Method-Override: GET", "X-HTTP-Method: GET", "X-Method-Override: GET", "X-Override-URL: /docs", "Referer: http://localhost:9002/", "Via: 1.1 localhost",
		"User-Agent: kube-probe/1.30", "User-Agent: ELB-HealthChecker/2.0", "User-Agent: GoogleHC/1.0", "User-Agent: Go-http-client/1.1", "X-Forwarded-User: user-oursadmin-v1", "X-Remote-User: user-oursadmin-v1", "X-Auth-Request-User: user-oursadmin-v1", "X-Authenticated-User: user-oursadmin-v1", "X-WEBAUTH-USER: user-oursadmin-v1",
		"X-Identity-Status: Confirmed", "X-Roles: admin", "X-Role: account_admin", "X-Is-Admin-Project: True", "X-Service-Identity-Status: Confirmed", "X-Service-Roles: admin", "X-Domain-Id: default", "X-Project-Id: proj-ours-v1", "X-User-Groups: admins", "X-Scopes: platform:admin", "X-Principal-Kind: service", "X-Portcullis-Assertion: x", "X-Tenant-ID: acct-theirs-v1",
		"X-Skip-Auth: true", "X-Debug: 1", "X-Internal: true", "X-Envoy-Internal: true", "X-Consistency: strict", "Cookie: session=admin", "Host-Override: localhost:9002", "Cache-Control: no-cache", "If-None-Match: *", "Range: bytes=0-1", "TE: trailers", "Content-Location: /openapi.json", "Max-Forwards: 0",
		"X-User-ID: user-oursbob-v1", "X-Request-ID: admin", "Connection: Authorization", "Connection: close, X-Account-ID", "Keep-Alive: 1", "Proxy-Connection: keep-alive", "SOAPAction: x", "X-Amz-Security-Token: x", "X-Client-Cert: x", "X-SSL-Client-Verify: SUCCESS", "X-Forwarded-Client-Cert: By=x",
	} {
		for i, raw := range plain(line) {
			a := r.refuse(line, raw, want[i])
			if a.Body != bodies[i] {
				r.fault("%s changes the answer to %s", line, a.Body)
			}
		}
	}
}

// oneConnection sends requests of different callers on one connection: nobody's identity is left
// for the next one.
func oneConnection(w *attacksWorld, r *refusals) {
	target := "/api/v1/authorize/projects/" + w.tenant.project + "/x"
	whole := w.question(target)
	follow := []struct {
		name, raw string
		want      int
	}{
		{"no credential", request("POST", target, "", "X-User-ID: "+w.tenant.admin, "X-Account-ID: "+w.tenant.account, "X-Action: project:x:read"), 401},
		{"no user", strings.Replace(whole, "X-User-ID: "+w.tenant.admin+"\r\n", "", 1), 400},
		{"no account", strings.Replace(whole, "X-Account-ID: "+w.tenant.account+"\r\n", "", 1), 400},
		{"no action", strings.Replace(whole, "X-Action: project:instance:read\r\n", "", 1), 400},
		{"another's roles", request("GET", w.tenant.path("/roles"), "", bearer(w.tenant.bobToken)), 403},
		{"another account", request("GET", w.tenant.path("/roles"), "", bearer(w.foreign.adminToken)), 403},
	}
	for _, f := range follow {
		for range 3 {
			r.cases++
			first, second, err := w.inOneGo(whole, f.raw)
			if err != nil || first.Status != 200 {
				r.fault("one connection, before %s: %v %d %s", f.name, err, first.Status, first.Body)
			}
			if second.Status != f.want {
				r.fault("one connection, %s: %v %d %s, want %d", f.name, err, second.Status, second.Body, f.want)
			}
		}
	}
}

// probes: what is private has no route on the edge, and the reverse.
func probes(w *attacksWorld, r *refusals) {
	for _, target := range []string{"/metrics", "/healthz/live", "/healthz/ready", "/api/v1/healthz/live", "/api/v1/healthz/ready", "/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/assertions/jwks.json", "/livez", "/readyz", "/health", "/status", "/version", "/config", "/v1/data", "/v1/policies", "/.env", "/.git/config", "/api", "/server-status"} {
		for _, agent := range []string{"kube-probe/1.30", "ELB-HealthChecker/2.0", "curl"} {
			r.refuse("edge "+target, request("GET", target, "", bearer(w.platform), "User-Agent: "+agent), 404)
		}
	}
	for _, target := range []string{w.tenant.path("/roles"), w.tenant.path(""), "/api/v1/accounts", "/api/v1/authorize/x", "/api/v1/users", "/openapi.json", "/docs", "/debug/pprof/", "/.well-known/jwks.json"} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			r.cases++
			a, err := exchange(w.HealthURL, request(method, target, "", bearer(w.platform), "X-User-ID: "+w.tenant.admin, "X-Account-ID: "+w.tenant.account, "X-Action: project:x:read"))
			if err != nil || a.Status != 404 && a.Status != 405 && a.Status != 400 {
				r.fault("private %s %s: %v %d %s", method, target, err, a.Status, a.Body)
			}
		}
	}
}

// hopByHop guarantees that a header named by Connection still counts: nobody removes what is
// judged.
func hopByHop(w *attacksWorld, r *refusals) {
	denied := strings.Replace(w.question("/api/v1/authorize/projects/"+w.tenant.project+"/x"), "X-User-ID: "+w.tenant.admin, "X-User-ID: "+w.tenant.bob, 1)
	for _, name := range []string{"X-User-ID", "x-user-id", "X-Account-ID", "X-Action", "Authorization", "X-API-Key", "Host", "Content-Length", "X-Consistency", "*"} {
		for _, form := range []string{"Connection: ", "Connection: close, ", "Connection: keep-alive, ", "Proxy-Connection: ", "Connection: ,"} {
			raw := strings.Replace(denied, "\r\n\r\n", "\r\n"+form+name+"\r\n\r\n", 1)
			r.denied(form+name, raw, "project:instance:read")
		}
	}
}
