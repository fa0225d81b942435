package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// tooling is a door to the tools of servers; "off" is none.
type tooling struct{ streamer }

const toolingURL = "https://gateway.test"

func (tooling) ResourceOf(rawPath string) doors.Resource {
	if strings.HasSuffix(rawPath, "/off") {
		return doors.Resource{}
	}
	return doors.Resource{URL: toolingURL + rawPath, Scopes: []string{"mcp:read", "mcp:write"}}
}

// protected is an edge with a door to tools, whose token is good for the server github alone.
func protected(t *testing.T, answer func(context.Context, doors.Call) (doors.Answer, error), change ...func(*gateway.Config)) *edge {
	t.Helper()
	return start(t, append([]func(*gateway.Config){func(c *gateway.Config) {
		c.Catalogue = append(c.Catalogue,
			resources.Route{Name: "mcp", Method: "POST", Path: "/mcp/{proxy+}", Area: "access", Upstream: "authorize"})
		c.Doors["mcp"] = tooling{streamer{answer}}
		c.Authn = authn{func(ctx context.Context, token string) (resources.Principal, error) {
			if audience := ctx.Value(audienceKey{}); audience != nil && audience != toolingURL+"/mcp/github" && audience != toolingURL+"/mcp/accounts/acct-b-v1/github" {
				token = badToken
			}
			return alice(ctx, token)
		}}
	}}, change...)...)
}

func fine(context.Context, doors.Call) (doors.Answer, error) {
	return doors.Answer{Status: 200, Body: []byte("{}")}, nil
}

// TestAProtectedDoorNeedsATokenForItsResource guarantees the refusals and their challenges, and that other paths have the
// bare one as before.
func TestAProtectedDoorNeedsATokenForItsResource(t *testing.T) {
	e := protected(t, fine)
	const metadata = `resource_metadata="https://gateway.test/.well-known/oauth-protected-resource/mcp/`
	const scopes = `", scope="mcp:read mcp:write"`
	for title, c := range map[string]struct {
		path      string
		headers   []string
		status    int
		challenge string
	}{
		"its token":           {"/mcp/github", []string{bearer}, 200, ""},
		"no token":            {"/mcp/github", nil, 401, `Bearer ` + metadata + `github` + scopes},
		"a bad token":         {"/mcp/github", []string{"Authorization: Bearer " + badToken}, 401, `Bearer error="invalid_token", ` + metadata + `github` + scopes},
		"another's token":     {"/mcp/gitlab", []string{bearer}, 401, `Bearer error="invalid_token", ` + metadata + `gitlab` + scopes},
		"another account":     {"/mcp/accounts/acct-a-v1/github", []string{bearer}, 401, `Bearer error="invalid_token", ` + metadata + `accounts/acct-a-v1/github` + scopes},
		"a key":               {"/mcp/github", []string{"X-API-Key: k"}, 401, `Bearer error="invalid_token", ` + metadata + `github` + scopes},
		"a key and a token":   {"/mcp/github", []string{bearer, "X-API-Key: k"}, 401, `Bearer error="invalid_token", ` + metadata + `github` + scopes},
		"a blank key beside":  {"/mcp/github", []string{bearer, "X-API-Key:"}, 401, `Bearer error="invalid_token", ` + metadata + `github` + scopes},
		"two tokens":          {"/mcp/github", []string{bearer, bearer}, 400, ""},
		"a door that is off":  {"/mcp/off", nil, 404, ""},
		"off, with a token":   {"/mcp/off", []string{bearer}, 404, ""},
		"no door at all":      {"/nothing", nil, 404, ""},
		"another, no token":   {"/api/v1/accounts/acct-a-v1/roles", nil, 401, "Bearer"},
		"another, with token": {"/api/v1/accounts/acct-a-v1/roles", []string{bearer, jsonType}, 200, ""},
	} {
		r := e.send(t, request("POST", c.path, "", c.headers...))
		if got := r.Header.Get("WWW-Authenticate"); r.Status != c.status || got != c.challenge {
			t.Errorf("%s: %d %q", title, r.Status, got)
		}
	}
	off, none := e.send(t, request("POST", "/mcp/off", "", bearer)), e.send(t, request("POST", "/nothing", "", bearer))
	if off.Body != none.Body {
		t.Errorf("%s is not %s", off.Body, none.Body)
	}
}

// TestAProtectedDoorKnowsItsPlace guarantees the account of its path, and its problems.
func TestAProtectedDoorKnowsItsPlace(t *testing.T) {
	var got doors.Call
	e := protected(t, func(_ context.Context, c doors.Call) (doors.Answer, error) {
		got = c
		return doors.Answer{Status: 200, Body: []byte("{}")}, nil
	})
	body := "{\"a\": 1,\n \"a\":2}"
	r := e.send(t, request("POST", "/mcp/accounts/acct-b-v1/github", body, bearer))
	if r.Status != 200 || got.Place.AccountID != "acct-b-v1" || got.Place.Rest != "github" ||
		string(got.Body) != body || len(got.Problems) > 0 || got.Caller.ID != "user-alice-v1" {
		t.Errorf("%d %+v", r.Status, got)
	}
	e = protected(t, func(_ context.Context, c doors.Call) (doors.Answer, error) {
		return doors.Answer{}, resources.BadRequest(c.Problems...)
	}, func(c *gateway.Config) { c.Authn = authn{alice} })
	for _, path := range []string{"accounts/acct%2fb/github", "x/accounts/acct-b-v1/github", "accounts/acct-b-v1/../github", "", "github?x", "github/"} {
		if r := e.send(t, request("POST", "/mcp/"+path, "", bearer)); r.Status != 400 || !strings.Contains(r.Body, "path") {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
}

// TestLackOfScopeIsAChallenge guarantees that only a refusal for it is one.
func TestLackOfScopeIsAChallenge(t *testing.T) {
	for title, c := range map[string]struct {
		err    error
		scopes []string
		want   string
	}{
		"lack of scope":     {resources.Forbidden("No."), []string{"mcp:write"}, `Bearer error="insufficient_scope", resource_metadata="https://gateway.test/.well-known/oauth-protected-resource/mcp/github", scope="mcp:write"`},
		"another refusal":   {resources.Forbidden("No."), nil, ""},
		"a failure":         {resources.Unavailable("Later.", nil), []string{"mcp:write"}, ""},
		"an answer with it": {nil, []string{"mcp:write"}, ""},
	} {
		e := protected(t, func(context.Context, doors.Call) (doors.Answer, error) {
			return doors.Answer{Status: 200, Body: []byte("{}"), Scopes: c.scopes}, c.err
		})
		if r := e.send(t, request("POST", "/mcp/github", "", bearer)); r.Header.Get("WWW-Authenticate") != c.want {
			t.Errorf("%s: %d %v", title, r.Status, r.Header)
		}
	}
}

// TestAProtectedDoorIsNotPublic guarantees that no row opens it to everybody.
func TestAProtectedDoorIsNotPublic(t *testing.T) {
	cfg := config()
	cfg.Catalogue = append(cfg.Catalogue, resources.Route{Name: "mcp", Method: "POST", Path: "/mcp/{server}", Access: []string{"public"}, Area: "access", Upstream: "authorize"})
	cfg.Doors["mcp"] = tooling{streamer{fine}}
	if _, err := gateway.New(cfg); err == nil || !strings.Contains(err.Error(), "its door needs a token") {
		t.Error(err)
	}
}
