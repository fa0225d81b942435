package api_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// clientOf gives a Go client of the gateway with that credential.
func clientOf(t *testing.T, g *harness.Gateway, token string) *client.Client {
	t.Helper()
	return must.Get(client.New(client.Options{URL: g.URL, Token: client.StaticToken(token)}))(t)
}

// TestGoClientAsksAsAnybodyElse: its answers are E3's, and who may not ask gets none.
func TestGoClientAsksAsAnybodyElse(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Shared(t))
	checker, nobody := clientOf(t, s.Gateway, s.Checker), clientOf(t, s.Gateway, s.Platform)
	for name, c := range map[string]struct{ user, action string }{
		"the admin":     {s.Admin, "project:instance:create"},
		"another user":  {"user-other-v1", "project:instance:create"},
		"unknown thing": {s.Admin, "project:volcano:erupt"},
	} {
		q := client.Question{User: c.user, Account: s.Account, Action: c.action, Path: "accounts/" + s.Account + "/projects/" + s.Project + "/instances"}
		want := s.Ask(t, c.user, c.action, "/projects/"+s.Project+"/instances")
		for _, strict := range []bool{false, true} {
			q.Strict = strict
			got, err := checker.Check(t.Context(), q)
			if err != nil || got.Allowed != want.Body["allowed"] || got.Reason != want.Body["reason"] || got.ID == "" || got.AccountRevision != want.Header.Get("X-Account-Revision") {
				t.Errorf("%s: %+v, %v; E3 says %s", name, got, err, want.Raw)
			}
		}
		var refused *client.Error
		if got, err := nobody.Check(t.Context(), q); got.Allowed || !errors.As(err, &refused) || refused.Status != 403 {
			t.Errorf("%s, asked without the right to: %+v, %v", name, got, err)
		}
	}
	var refused *client.Error
	_, err := checker.Check(t.Context(), client.Question{User: s.Admin, Account: s.Account, Action: "create", Path: "accounts/" + s.Account + "/../x"})
	if !errors.As(err, &refused) || refused.Status != 400 || len(refused.Details) != 2 {
		t.Errorf("a bad question: %v", err)
	}
}

// means has a service take every request for this action.
func means(action string) func(*http.Request) string {
	return func(*http.Request) string { return action }
}

// TestGoVerifierTakesTheGatewaysWord: for the request that arrived, and for no other one.
func TestGoVerifierTakesTheGatewaysWord(t *testing.T) {
	t.Parallel()
	widgets := newStandIn(t)
	a := harness.StartTeam(t, "--policy-dir", harness.PoliciesWithWidgets(t), "--upstream", "widgets="+widgets.URL)
	path := a.Path("/projects/" + a.Project + "/widgets")
	harness.Call(t, "GET", path+"?colour=red", a.AdminToken, "")
	v, err := client.NewVerifier(client.VerifierOptions{KeysURL: a.HealthURL + "/assertions/jwks.json", Audience: "widgets", Action: means("project:widget:read")})
	if err != nil {
		t.Fatal(err)
	}
	r := widgets.arrived()[0]
	got, err := v.Verify(t.Context(), r, nil)
	if err != nil || got.ID != a.Admin || got.Account != a.Account || got.Action != "project:widget:read" || got.Kind != "user" {
		t.Errorf("%+v, %v", got, err)
	}
	r.RequestURI += "&all=1"
	if got, err := v.Verify(t.Context(), r, nil); err == nil {
		t.Errorf("another request: %+v", got)
	}
}
