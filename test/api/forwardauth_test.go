package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// appRows are rows of one's own for a service behind a proxy.
const appRows = `
"app.read": {"method": "GET", "host": "App.example", "path": "/api/v1/accounts/{accountId}/projects/{projectId}/{rest+}", "action": "project:instance:read", "effect": "read", "audience": "https://app.example", "upstream": "external"},
"app.write": {"method": "*", "host": "app.example", "path": "/api/v1/accounts/{accountId}/projects/{projectId}/{rest+}", "action": "project:instance:update", "effect": "write", "upstream": "external"},
"app.members": {"method": "*", "host": "app.example", "path": "/{rest+}", "access": ["member"], "effect": "read", "upstream": "external"},
"app.preflight": {"method": "OPTIONS", "host": "app.example", "path": "/{rest+}", "access": ["public"], "effect": "read", "upstream": "external"},
"app.status": {"method": "GET", "path": "/status", "access": ["public"], "effect": "read", "audience": "status", "upstream": "external"},
"app.own_project": {"method": "GET", "path": "/projects/{projectId:proj}/x", "action": "project:instance:read", "effect": "read", "upstream": "external"},
"own.read": {"method": "GET", "host": "own.example", "path": "/v1/{tenant}/projects/{p}/{rest+}", "place": {"account": "{tenant}", "project": "{p}"}, "action": "project:instance:read", "effect": "read", "upstream": "external"},
"own.project": {"method": "GET", "host": "own.example", "path": "/v2/projects/{p}", "place": {"project": "{p}"}, "action": "project:instance:read", "effect": "read", "upstream": "external"},
"own.home": {"method": "GET", "host": "own.example", "path": "/", "access": ["member"], "effect": "read", "upstream": "external"},
"own.list": {"method": "GET", "host": "own.example", "path": "/list/", "access": ["member"], "effect": "read", "upstream": "external"},
"app.account": {"method": "GET", "path": "/settings", "action": "account:role:read", "effect": "read", "upstream": "external"},`

// policiesWith is the policy tree with further rows.
func policiesWith(t testing.TB, rows string) string {
	t.Helper()
	policies := harness.CopyPolicies(t)
	routes := filepath.Join(policies, "routes", "data.json")
	text := must.Get(os.ReadFile(routes))(t)
	harness.WriteFile(t, routes, strings.Replace(string(text), "{", "{"+rows, 1))
	return policies
}

// app is a team with a service behind a proxy. Bob reads, Carol is a member, Dan as well.
func app(t *testing.T) *harness.Team {
	t.Helper()
	return withReader(t, harness.NewTeamAs(t, "app", withApp))
}

// withApp are the arguments of its gateway.
func withApp(t testing.TB) []string { return []string{"--policy-dir", policiesWith(t, appRows)} }

// withReader lets Bob read the project.
func withReader(t *testing.T, a *harness.Team) *harness.Team {
	t.Helper()
	a.Grant(t, "project_reader", a.Bob, a.Project)
	return a
}

// asked is an original call in the ways in which proxies tell it, by the way's name.
func asked(t *testing.T, g *harness.Gateway, host, method, uri, token string, headers ...string) map[string]harness.Reply {
	t.Helper()
	original := func(more ...string) []string {
		return append(append(slices.Clone(headers), "X-Forwarded-Host", host), more...)
	}
	return map[string]harness.Reply{
		"as nginx tells it":   harness.Call(t, "GET", g.URL+"/forward-auth", token, "", original("X-Original-Method", method, "X-Original-URI", uri)...),
		"as Traefik tells it": harness.Call(t, "POST", g.URL+"/forward-auth", token, "", original("X-Forwarded-Method", method, "X-Forwarded-Uri", uri)...),
		"as Envoy tells it":   harness.Call(t, method, g.URL+"/verify"+uri, token, "", original()...),
	}
}

// identity are the headers that a proxy passes on of a 200.
var identity = []string{"X-User-ID", "X-Account-ID", "X-Action", "X-Principal-Kind"}

// TestCallsBehindAProxy are judged alike in each of the ways to ask, and as the routes of the edge.
func TestCallsBehindAProxy(t *testing.T) {
	t.Parallel()
	a := app(t)
	place := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project
	bob, carol := a.UserToken(t, a.Bob), a.UserToken(t, a.Carol)
	service := a.Checker
	base, gone := "/api/v1/accounts/"+a.Account+"/projects/", "the project is not an active project of the account"
	foreign := harness.NewTeamAs(t, "app", withApp).Project
	for name, c := range map[string]struct {
		host, method, uri, token string
		want                     int
		identity                 string // of a 200
		reason                   string // of a 403
	}{
		"a reader reads":         {"app.example", "GET", place + "/i", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"with a query":           {"app.example", "GET", place + "/i?a=..//%2e&b=", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"HEAD is GET":            {"app.example", "HEAD", place + "/i", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"host and port":          {"APP.EXAMPLE:8443", "GET", place + "/i", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"a reader writes":        {"app.example", "PUT", place + "/i", bob, 403, "", "no active role of the user grants project:instance:update in " + a.Project},
		"an admin writes":        {"app.example", "PATCH", place + "/i", a.AdminToken, 200, a.Admin + " " + a.Account + " project:instance:update user", ""},
		"a stranger reads":       {"app.example", "GET", place + "/i", carol, 403, "", "no active role of the user grants project:instance:read in " + a.Project},
		"another account":        {"app.example", "GET", "/api/v1/accounts/acct-other-v1/projects/" + a.Project + "/i", bob, 403, "", "the user is not an active member of the account"},
		"a member":               {"app.example", "GET", "/anything/else", carol, 200, a.Carol + " " + a.Account + "  user", ""},
		"a service is no member": {"app.example", "GET", "/anything/else", service, 403, "", "no scope of the service allows this"},
		"nobody":                 {"app.example", "GET", "/anything/else", "", 401, "", ""},
		"a broken token":         {"app.example", "GET", "/anything/else", harness.OtherEnding(bob), 401, "", ""},
		"nobody, no row":         {"other.example", "GET", "/anything/else", "", 401, "", ""},
		"no row":                 {"other.example", "GET", "/anything/else", bob, 404, "", ""},
		"another method":         {"other.example", "POST", "/status", bob, 404, "", ""},
		"OPTIONS has a row":      {"app.example", "OPTIONS", "/anything/else", "", 200, "   ", ""},
		"OPTIONS has none":       {"other.example", "OPTIONS", "/status", bob, 404, "", ""},
		"for anybody":            {"other.example", "GET", "/status", "", 200, "   ", ""},
		"anybody with a token":   {"other.example", "GET", "/status", bob, 200, "   ", ""},
		"with a broken token":    {"other.example", "GET", "/status", "x", 200, "   ", ""},
		"one's own account":      {"other.example", "GET", "/projects/" + a.Project + "/x", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"an ill-formed id":       {"other.example", "GET", "/projects/widget/x", bob, 400, "", ""},
		"one's own settings":     {"other.example", "GET", "/settings", a.AdminToken, 200, a.Admin + " " + a.Account + " account:role:read user", ""},
		"a route of the edge":    {"", "GET", "/api/v1/accounts/" + a.Account + "/roles", a.AdminToken, 200, a.Admin + " " + a.Account + " account:role:read user", ""},
		"a project's name":       {"", "PATCH", base + a.Project, a.AdminToken, 200, a.Admin + " " + a.Account + " account:project:update user", ""},
		"an absent project":      {"", "PATCH", base + "proj-absent-v1", a.AdminToken, 403, "", gone},
		"another's project":      {"", "DELETE", base + foreign, a.AdminToken, 403, "", gone},
		"no role, another's":     {"", "DELETE", base + foreign, bob, 403, "", "no active role of the user grants account:project:delete in " + a.Account},
		"two accounts":           {"app.example", "GET", place + "/accounts/x", bob, 400, "", ""},
		"a place of one's own":   {"own.example", "GET", "/v1/" + a.Account + "/projects/" + a.Project + "/i", bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"there, a stranger":      {"own.example", "GET", "/v1/" + a.Account + "/projects/" + a.Project + "/i", carol, 403, "", "no active role of the user grants project:instance:read in " + a.Project},
		"there, another account": {"own.example", "GET", "/v1/acct-other-v1/projects/" + a.Project + "/i", bob, 403, "", "the user is not an active member of the account"},
		"there, another project": {"own.example", "GET", "/v1/" + a.Account + "/projects/" + foreign + "/i", a.AdminToken, 403, "", gone},
		"there, two projects":    {"own.example", "GET", "/v1/" + a.Account + "/projects/" + a.Project + "/projects/x", bob, 400, "", ""},
		"of one's own account":   {"own.example", "GET", "/v2/projects/" + a.Project, bob, 200, a.Bob + " " + a.Account + " project:instance:read user", ""},
		"another's there":        {"own.example", "GET", "/v2/projects/" + foreign, a.AdminToken, 403, "", gone},
		"the root":               {"own.example", "GET", "/", carol, 200, a.Carol + " " + a.Account + "  user", ""},
		"the root with a query":  {"own.example", "GET", "/?x=1", carol, 200, a.Carol + " " + a.Account + "  user", ""},
		"two slashes":            {"own.example", "GET", "//", carol, 404, "", ""},
		"a list":                 {"own.example", "GET", "/list/", carol, 200, a.Carol + " " + a.Account + "  user", ""},
		"a list without a slash": {"own.example", "GET", "/list", carol, 404, "", ""},
		"dots":                   {"app.example", "GET", "/anything/%2e%2e/else", bob, 400, "", ""},
		"a slash at the end":     {"app.example", "GET", "/anything/", bob, 400, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.host == "" {
				c.host = "gateway"
			}
			for way, r := range asked(t, a.Gateway, c.host, c.method, c.uri, c.token) {
				if r.Status != c.want {
					t.Errorf("%s: %d %s, want %d", way, r.Status, r.Raw, c.want)
					continue
				}
				switch c.want {
				case 200:
					var got []string
					for _, name := range identity {
						if len(r.Header.Values(name)) != 1 {
							t.Errorf("%s: no %s in %v", way, name, r.Header)
						}
						got = append(got, r.Header.Get(name))
					}
					if strings.Join(got, " ") != c.identity || r.Header.Get("X-Request-ID") == "" {
						t.Errorf("%s: %q, want %q", way, got, c.identity)
					}
				case 403:
					if details := problems(t, r); !slices.Equal(details, []string{c.reason}) {
						t.Errorf("%s: %q, want %q", way, details, c.reason)
					}
				case 401:
					if r.Header.Get("WWW-Authenticate") != "Bearer" {
						t.Errorf("%s: WWW-Authenticate %q", way, r.Header.Get("WWW-Authenticate"))
					}
				}
				if c.want >= 400 {
					problems(t, r) // has the shape of access
				}
			}
		})
	}
}

// TestACallIsToldOnce: half a pair, two pairs, and what servers read in two ways are 400.
func TestACallIsToldOnce(t *testing.T) {
	t.Parallel()
	a := app(t)
	bob := a.UserToken(t, a.Bob)
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"nginx":                          {[]string{"X-Original-Method: GET", "X-Original-URI: /x"}, 200},
		"Traefik":                        {[]string{"X-Forwarded-Method: GET", "X-Forwarded-Uri: /x"}, 200},
		"other forwarded headers":        {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Proto: https", "X-Forwarded-For: ::1"}, 200},
		"nothing":                        {nil, 400},
		"no URI":                         {[]string{"X-Original-Method: GET"}, 400},
		"no method":                      {[]string{"X-Original-URI: /x"}, 400},
		"an empty method":                {[]string{"X-Original-Method: ", "X-Original-URI: /x"}, 400},
		"an empty URI":                   {[]string{"X-Original-Method: GET", "X-Original-URI: "}, 400},
		"halves of two":                  {[]string{"X-Original-Method: GET", "X-Forwarded-Uri: /x"}, 400},
		"both":                           {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Method: GET", "X-Forwarded-Uri: /x"}, 400},
		"half beside one":                {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Uri: /x"}, 400},
		"the other half beside one":      {[]string{"X-Forwarded-Method: GET", "X-Forwarded-Uri: /x", "X-Original-Method: GET"}, 400},
		"a method twice":                 {[]string{"X-Original-Method: GET", "X-Original-Method: GET", "X-Original-URI: /x"}, 400},
		"two methods in one":             {[]string{"X-Original-Method: GET, GET", "X-Original-URI: /x"}, 400},
		"a method in small letters":      {[]string{"X-Original-Method: get", "X-Original-URI: /x"}, 400},
		"a URI twice":                    {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Original-URI: /x"}, 400},
		"two URIs in one":                {[]string{"X-Original-Method: GET", "X-Original-URI: /x, /x"}, 400},
		"a URI with a host":              {[]string{"X-Original-Method: GET", "X-Original-URI: http://app.example/x"}, 400},
		"a URI without a slash":          {[]string{"X-Original-Method: GET", "X-Original-URI: x"}, 400},
		"a fragment":                     {[]string{"X-Original-Method: GET", "X-Original-URI: /x#y"}, 400},
		"a fragment in the query":        {[]string{"X-Original-Method: GET", "X-Original-URI: /x?a#y"}, 400},
		"the root, which has no row":     {[]string{"X-Original-Method: GET", "X-Original-URI: /"}, 404},
		"two slashes":                    {[]string{"X-Original-Method: GET", "X-Original-URI: //x"}, 400},
		"an underscore":                  {[]string{"X-Original-Method: GET", "X_Original_URI: /x"}, 400},
		"an underscore beside":           {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Original_URI: /y"}, 400},
		"an underscore in the other":     {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X_Forwarded_Method: GET"}, 400},
		"a host with an underscore":      {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X_Forwarded_Host: app.example"}, 400},
		"a host twice":                   {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: app.example", "X-Forwarded-Host: app.example"}, 400},
		"two hosts in one":               {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: app.example, app.example"}, 400},
		"a host with a dot":              {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: app.example."}, 400},
		"an empty host":                  {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: "}, 400},
		"another host":                   {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: other.example"}, 404},
		"TRACE":                          {[]string{"X-Original-Method: TRACE", "X-Original-URI: /x"}, 404},
		"CONNECT":                        {[]string{"X-Original-Method: CONNECT", "X-Original-URI: /x"}, 404},
		"a claim that is true":           {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-User-ID: " + a.Bob, "X-Account-ID: " + a.Account}, 200},
		"a claim of another user":        {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-User-ID: " + a.Admin}, 400},
		"a claim of another account":     {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Account-ID: acct-other-v1"}, 400},
		"a claim of an action":           {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Action: project:instance:read"}, 400},
		"a claim twice":                  {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-User-ID: " + a.Bob, "X-User-ID: " + a.Bob}, 400},
		"a claim under another name":     {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X_User_ID: " + a.Bob}, 400},
		"a claim of nobody":              {[]string{"X-Original-Method: OPTIONS", "X-Original-URI: /x", "X-User-ID: " + a.Bob}, 200},
		"a claim of nobody twice":        {[]string{"X-Original-Method: OPTIONS", "X-Original-URI: /x", "X-User-ID: " + a.Bob, "X-User-ID: " + a.Bob}, 400},
		"no row and a wrong claim":       {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: other.example", "X-User-ID: " + a.Admin}, 404},
		"no row and other consistency":   {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Forwarded-Host: other.example", "X-Consistency: lax"}, 404},
		"a key of repeats":               {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "Idempotency-Key: a"}, 200},
		"a key of repeats twice":         {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "Idempotency-Key: a", "Idempotency-Key: b"}, 400},
		"an underscore in that key":      {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "Idempotency_Key: a"}, 400},
		"strict":                         {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Consistency: strict"}, 200},
		"another consistency":            {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "X-Consistency: lax"}, 400},
		"a path of the door":             {[]string{"X-Original-Method: GET", "X-Original-URI: /forward-auth"}, 403},
		"a path of the other door":       {[]string{"X-Original-Method: GET", "X-Original-URI: /verify/x"}, 403},
		"what a client says of its host": {[]string{"X-Original-Method: GET", "X-Original-URI: /x", "Forwarded: host=other.example", "X-Host: other.example"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			head := "GET /forward-auth HTTP/1.1\r\nHost: app.example\r\nAuthorization: Bearer " + bob + "\r\n" + harness.CRLF(c.headers) + "\r\n"
			if r := harness.SendRaw(t, a.URL, head); r.Status != c.want {
				t.Errorf("%d %s, want %d", r.Status, r.Body, c.want)
			}
		})
	}
}

// TestAnAudienceGetsAnAssertion of the original call: the keys are those that the gateway publishes, and the body
// is not in it.
func TestAnAudienceGetsAnAssertion(t *testing.T) {
	t.Parallel()
	a := app(t)
	uri := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project + "/i?b=%2F&a"
	keys := harness.Call(t, "GET", a.HealthURL+"/assertions/jwks.json", "", "")
	read := func(token, audience string) jwt.MapClaims {
		claims := jwt.MapClaims{}
		parser := jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer("portcullis-gateway"), jwt.WithAudience(audience), jwt.WithExpirationRequired())
		if _, err := parser.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) { return publicKey(t, keys, token.Header["kid"]), nil }); err != nil {
			t.Fatal(err)
		}
		return claims
	}
	target := sha256.Sum256([]byte(uri))
	for _, method := range []string{"GET", "HEAD"} {
		for way, r := range asked(t, a.Gateway, "app.example", method, uri, a.UserToken(t, a.Bob), "X-Request-ID", "req-1") {
			claims := read(r.Header.Get("X-Portcullis-Assertion"), "https://app.example")
			for name, want := range map[string]any{
				"sub": a.Bob, "method": method, "target_sha256": base64.RawURLEncoding.EncodeToString(target[:]), "request_id": "req-1",
				"account": a.Account, "action": "project:instance:read", "body_sha256": nil,
			} {
				if claims[name] != want {
					t.Errorf("%s, %s: %s is %v, want %v", method, way, name, claims[name], want)
				}
			}
		}
	}
	for way, r := range asked(t, a.Gateway, "app.example", "GET", "/status", "", "X-Request-ID", "req-2") {
		if claims := read(r.Header.Get("X-Portcullis-Assertion"), "status"); claims["sub"] != nil && claims["sub"] != "" || harness.At(claims["principal"], "kind") != "none" {
			t.Errorf("%s: %v", way, claims)
		}
	}
	for way, r := range asked(t, a.Gateway, "app.example", "GET", "/x", a.UserToken(t, a.Bob)) {
		if r.Status != 200 || len(r.Header.Values("X-Portcullis-Assertion")) != 0 {
			t.Errorf("%s, without an audience: %d %v", way, r.Status, r.Header)
		}
	}
}

// TestABodyOfAProxiedCallIsNotRead: the answer comes before it, and ends the connection.
func TestABodyOfAProxiedCallIsNotRead(t *testing.T) {
	t.Parallel()
	a := app(t)
	bob := a.UserToken(t, a.Bob)
	for name, lines := range map[string][]string{
		"a length":        {"Content-Length: 5"},
		"a large one":     {"Content-Length: 99999999999"},
		"chunks":          {"Transfer-Encoding: chunked"},
		"one that waits":  {"Content-Length: 5", "Expect: 100-continue"},
		"one in disguise": {"Content-Length: 5", "Content-Encoding: gzip", "Content-Type: image/png"},
	} {
		for _, target := range []string{"/forward-auth", "/verify/x"} {
			t.Run(name+" "+target, func(t *testing.T) {
				head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: app.example\r\nAuthorization: Bearer %s\r\n%s\r\n", target, bob,
					harness.CRLF(append(lines, "X-Original-Method: POST", "X-Original-URI: /x")))
				if r := harness.SendRaw(t, a.URL, head); r.Status != 200 || !r.Closed {
					t.Errorf("%d %s, closed %v", r.Status, r.Body, r.Closed)
				}
			})
		}
	}
	head := "GET /verify/x HTTP/1.1\r\nHost: app.example\r\nContent-Length: 0\r\nAuthorization: Bearer " + bob + "\r\n\r\n"
	if r := harness.SendRaw(t, a.URL, head); r.Status != 200 || r.Closed {
		t.Errorf("without a body: %d %s, closed %v", r.Status, r.Body, r.Closed)
	}
}

// TestAChangedCatalogueIsAsked from when it is in force.
func TestAChangedCatalogueIsAsked(t *testing.T) {
	t.Parallel()
	policies := policiesWith(t, appRows)
	a := harness.StartTeam(t, "--policy-dir", policies)
	dan := a.UserToken(t, a.Dan)
	ask := func() int {
		return harness.Call(t, "GET", a.URL+"/verify/anything", dan, "", "X-Forwarded-Host", "fresh.example").Status
	}
	if status := ask(); status != 404 {
		t.Fatalf("a host that no row names: %d", status)
	}
	routes := filepath.Join(policies, "routes", "data.json")
	text := must.Get(os.ReadFile(routes))(t)
	// The host alone differs.
	harness.WriteFile(t, routes, strings.ReplaceAll(strings.ReplaceAll(string(text), `"app.example"`, `"fresh.example"`), `"App.example"`, `"fresh.example"`))
	harness.Soon(t, "the new rows are in force", func() bool { return ask() == 200 })
}

// TestTheLogNamesTheOriginalCall beside the door's own, without its query, also where nobody may make it.
func TestTheLogNamesTheOriginalCall(t *testing.T) {
	t.Parallel()
	a := app(t)
	uri := "/x/" + a.Project
	for i, sent := range []struct {
		path    string
		headers []string
	}{
		{"/forward-auth", []string{"X-Original-Method", "DELETE", "X-Original-URI", uri + "?token=secret"}},
		{"/forward-auth", []string{"X-Forwarded-Method", "DELETE", "X-Forwarded-Uri", uri + "?token=secret"}},
		{"/verify" + uri + "?token=secret", nil},
	} {
		for caller, token := range map[string]string{"bob": a.UserToken(t, a.Bob), "nobody": "x"} {
			id := fmt.Sprintf("%s-%d-%s", teamNameOf(a), i, caller)
			method := "GET"
			if sent.headers == nil {
				method = "DELETE"
			}
			got := harness.Call(t, method, a.URL+sent.path, token, "", append([]string{"X-Request-ID", id, "X-Forwarded-Host", "App.example:8443"}, sent.headers...)...)
			harness.Soon(t, "the log has it", func() bool { return len(a.RequestLines(id)) == 1 })
			line, door := a.RequestLines(id)[0], strings.TrimSuffix(sent.path, "?token=secret")
			if line["method"] != method || line["path"] != door || line["original_host"] != "app.example" || line["original_method"] != "DELETE" || line["original_path"] != uri {
				t.Errorf("%d %s: %v", got.Status, sent.path, line)
			}
		}
	}
	plain := teamNameOf(a) + "-plain"
	harness.Call(t, "GET", a.URL+"/accounts", a.UserToken(t, a.Bob), "", "X-Request-ID", plain)
	harness.Soon(t, "the log has it", func() bool { return len(a.RequestLines(plain)) == 1 })
	for _, line := range a.RequestLines(plain) {
		if _, logged := line["original_path"]; logged {
			t.Errorf("%v", line)
		}
	}
}
