package gateway_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestErrorBodyHasItsAreasShape, word for word.
func TestErrorBodyHasItsAreasShape(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{deny, deny}.pin() })
	for name, c := range map[string]struct {
		raw    string
		status int
		body   string
	}{
		"401 access":    {request("GET", "/api/v1/accounts/a/roles", ""), 401, `{"error":{"code":"UNAUTHORIZED","message":`},
		"401 E3":        {request("POST", "/api/v1/authorize/x", ""), 401, `{"error":{"code":"UNAUTHORIZED","message":`},
		"401 firewall":  {request("POST", "/api/v1/projects/p/walls", ""), 401, `{"error":`},
		"401 users":     {request("PUT", "/api/v1/users/u", ""), 401, `{"success":false,"error":{"code":"AUTH_001","type":"unauthorized","message":`},
		"401 users bad": {request("PUT", "/api/v1/users/u", "", "Authorization: Bearer "+badToken), 401, `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":`},
		"403 access":    {request("GET", "/api/v1/accounts/a/roles", "", bearer), 403, `{"error":{"code":"FORBIDDEN","message":"You may not do this.","details":["a test says no"]}}`},
		"403 firewall":  {request("POST", "/api/v1/projects/p/walls", "{}", bearer, jsonType), 403, `{"error":"You may not do this.","code":"FORBIDDEN","details":{"request":"a test says no"}}`},
		"403 users":     {request("PUT", "/api/v1/users/u", "{}", bearer, jsonType), 403, `{"success":false,"error":{"code":"AUTH_003","type":"forbidden","message":"You may not do this.","details":"a test says no"}}`},
		"403 compute":   {request("GET", "/api/v1/projects/p/things/t", "", bearer), 403, `{"error":{"code":"FORBIDDEN","message":"You may not do this.","details":["a test says no"]}}`},
		"404":           {request("GET", "/api/v1/users/u/x", ""), 404, `{"error":{"code":"NOT_FOUND","message":"There is nothing at this path."}}`},
		"405":           {request("GET", "/api/v1/users/u", ""), 405, `{"error":{"code":"METHOD_NOT_ALLOWED","message":"This path has the methods PUT."}}`},
		"413 users":     {request("PUT", "/api/v1/users/u", strings.Repeat(" ", bodyLimit+1)), 413, `{"success":false,"error":{"code":"REQ_001","type":"bad_request","message":"The body is too large.","details":""}}`},
		"415 users":     {request("PUT", "/api/v1/users/u", "{}", bearer), 415, `{"success":false,"error":{"code":"REQ_001"`},
		"415 firewall":  {request("POST", "/api/v1/projects/p/walls", "{}", bearer), 415, `{"error":"A body must be application/json in UTF-8 without a Content-Encoding.","code":"UNSUPPORTED_MEDIA_TYPE"}`},
		"400 firewall":  {request("POST", "/api/v1/projects/p%20/walls", "{}", bearer, jsonType), 400, `{"error":"The request is not valid.","code":"BAD_REQUEST","details":{"project_id":"must be 1 to 128`},
		"400 framing":   {request("PUT", "/api/v1/users/u", "", "Host: b"), 400, `{"error":{"code":"BAD_REQUEST","message":"The request is not valid.","details":["the request is not well-formed HTTP/1.1 or HTTP/1.0; no other version is taken"]}}`},
		"400 unread":    {"PUT /api/v1/users/u HTTP/1.1\r\nHost : b\r\n\r\n", 400, `{"error":{"code":"BAD_REQUEST","message":"The request is not valid.","details":["the request is not well-formed HTTP/1.1 or HTTP/1.0; no other version is taken"]}}`},
		"431":           {request("GET", "/", "", "X: "+strings.Repeat("x", 40<<10)), 431, `{"error":{"code":"BAD_REQUEST","message":"The request line and the headers are too large."}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := e.send(t, c.raw)
			if r.Status != c.status || !strings.HasPrefix(r.Body, c.body) {
				t.Errorf("%d %s, want %d %s", r.Status, r.Body, c.status, c.body)
			}
			if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Server") != "" {
				t.Errorf("headers %v", r.Header)
			}
			if (r.Header.Get("WWW-Authenticate") == "Bearer") != (r.Status == 401) || (r.Header.Get("Allow") != "") != (r.Status == 405) {
				t.Errorf("headers %v", r.Header)
			}
			if rec := e.last(t); rec.Status != r.Status || rec.RequestID != r.Header.Get("X-Request-ID") || rec.RequestID == "" || rec.Allowed {
				t.Errorf("record %+v of an answer %d with %v", rec, r.Status, r.Header)
			}
			if strings.Contains(r.Body, secret) {
				t.Errorf("the answer shows the token: %s", r.Body)
			}
		})
	}
}

// TestProblemsOfA400AreRecorded guarantees that the record of a 400 has the problems in every area,
// from every step, up to a bound. Other answers record none.
func TestProblemsOfA400AreRecorded(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Handlers["access"]["create"] = func(context.Context, *wire.Request) (wire.Response, error) {
			var p wire.Problems
			for i := range 2000 {
				p.Add(fmt.Sprintf("permissions[%d]", i), "\u00e9\n is not valid")
			}
			return wire.Response{}, p.Err()
		}
	})
	for raw, want := range map[string]string{
		request("PUT", "/api/v1/users/a%20b", "{}", bearer, jsonType):                          "user_id: must be",
		request("POST", "/api/v1/projects/a%20b/walls", "{}", bearer, jsonType):                "project_id: must be",
		request("GET", "/api/v1/projects/a%20b/things/x", "", bearer):                          "projectId: must be",
		request("GET", "/api/v1/accounts/a/roles", "", bearer, "X-User-ID: a", "X-User-ID: b"): "x-user-id: must be sent once",
		request("GET", "/api/v1/accounts/a/roles", "", bearer, bearer):                         "authorization: must be sent once",
		request("POST", "/api/v1/authorize/x", "", bearer):                                     "X-User-ID: is missing; X-Account-ID: is missing; X-Action: is missing",
		request("GET", "/api/v1/accounts/a/roles", "{}", bearer, jsonType):                     "body: must be empty",
		request("POST", "/public", "", "Transfer-Encoding: chunked") + "x\r\n":                 "the body could not be read",
		request("GET", "/", "", "Host: b"):                                                     "not well-formed",
		request("GET", "/api/v1/accounts/a/roles", "", "Content_Length: 5"):                    "not well-formed",
		request("POST", "/api/v1/accounts/a/roles", "{}", bearer, jsonType):                    "permissions[0]: \u00e9\n is not valid; permissions[1]",
	} {
		r, rec := e.send(t, raw), e.last(t)
		if r.Status != 400 || !strings.Contains(rec.Problems, want) || len(rec.Problems) > 1100 || !utf8.ValidString(rec.Problems) {
			t.Errorf("%q: %d %.300s, recorded %q with %q, want %q", raw, r.Status, r.Body, rec.Problems, rec.Reason, want)
		}
	}
	for _, raw := range []string{question("x"), request("GET", "/nothing", ""), request("GET", "/api/v1/accounts/a/roles", "")} {
		if r, rec := e.send(t, raw), e.last(t); r.Status == 400 || rec.Problems != "" {
			t.Errorf("%d recorded with %q", r.Status, rec.Problems)
		}
	}
}

// TestParametersArePlainIdentifiers on ordinary routes, all problems at once.
func TestParametersArePlainIdentifiers(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{}.pin() })
	for target, want := range map[string]string{
		"/api/v1/accounts/a%20b/roles": "accountId: must be", "/api/v1/accounts/a:b/roles": "accountId: must be", "/api/v1/accounts/a%2Fb/roles": "path: holds an encoded /",
		"/api/v1/accounts/../roles": "path: holds a . or .. segment", "/api/v1/accounts/%2e%2e/roles": "path: holds an encoded .", "/api/v1/accounts/accounts/roles": "path: is ambiguous",
		"/api/v1/accounts/a;x/roles": "path: holds a ;", "/api/v1/accounts/a%00/roles": "encoded NUL", "/api/v1/accounts/" + strings.Repeat("a", 129) + "/roles": "accountId: must be",
		"/api/v1/accounts/a/roles?x#y": "query: holds a #",
		"/api/v1/accounts/a#/roles":    "path: holds a #",
	} {
		r := e.send(t, request("GET", target, "", bearer, "X-User-ID: a", "X-User-ID: b"))
		if r.Status != 400 || !strings.Contains(r.Body, want) || !strings.Contains(r.Body, "x-user-id: must be sent once") {
			t.Errorf("%s: %d %s, want %q", target, r.Status, r.Body, want)
		}
	}
}

// TestRequestIDIsEchoedOrReplaced on every answer.
func TestRequestIDIsEchoedOrReplaced(t *testing.T) {
	e := start(t)
	made := regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{26}$`)
	for id, echoed := range map[string]bool{
		"a": true, "A-z.0_9": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a~b": false, "a,b": false, "a%0d": false, "\u00e9": false, "a/b": false, "{{7*7}}": false, "<x>": false, "\x1b[31m": false,
	} {
		for _, raw := range []string{question("x", "X-Request-ID: "+id), request("GET", "/", "", "X-Request-ID: "+id), request("PUT", "/public", "", "X-Request-ID: "+id)} {
			r := e.send(t, raw)
			got := r.Header.Get("X-Request-ID")
			if echoed && got != id || !echoed && !made.MatchString(got) {
				t.Errorf("%q became %q (%d)", id, got, r.Status)
			}
			if rec := e.last(t); rec.RequestID != got {
				t.Errorf("recorded as %q, answered as %q", rec.RequestID, got)
			}
		}
	}
	first, second := e.send(t, request("GET", "/", "")), e.send(t, request("GET", "/", ""))
	if first.Header.Get("X-Request-ID") == second.Header.Get("X-Request-ID") {
		t.Error("two requests got one id")
	}
}

// TestNoCredentialSchemeButBearer is taken, and each refusal says which is.
func TestNoCredentialSchemeButBearer(t *testing.T) {
	e := start(t)
	for header, want := range map[string]int{
		bearer: 200, "authorization: bearer " + goodToken: 200,
		"Authorization: " + goodToken: 401, "Authorization: Basic " + goodToken: 401, "Authorization: Bearer": 401, "Authorization:": 401,
		"Authorization: Bearer ": 401, "Authorization:  Bearer": 401, "authorization: bearer\t": 401, "Authorization:   ": 401,
		"Authorization: Bearer " + goodToken + ", Bearer x": 401, "Authorization: Bearer " + goodToken + " x": 401, "Authorization: Bearer  " + goodToken: 401,
		"Proxy-Authorization: Bearer " + goodToken: 401, "Cookie: token=" + goodToken: 401, "Authorization: Bearer " + badToken: 401,
		"Authorization: Bearer " + goodToken + " ": 400,
	} {
		r := e.send(t, request("GET", "/api/v1/accounts/a/roles", "", header))
		if r.Status != want || strings.Contains(r.Body, secret) {
			t.Errorf("%s: %d %s, want %d", header, r.Status, r.Body, want)
		}
	}
}
