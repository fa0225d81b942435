package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

func details(t *testing.T, body string) []string {
	t.Helper()
	var e struct {
		Error struct {
			Code    string
			Details []string
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return e.Error.Details
}

// TestQuestionReachesPolicyAsItWasAsked: the subject's facts, the path's place, the
// header's account and action; and the caller's own facts for whether they may ask.
func TestQuestionReachesPolicyAsItWasAsked(t *testing.T) {
	var asked, access resources.Question
	var topic []string
	e := start(t, func(c *gateway.Config) {
		c.Judge.Pin = policy{
			func(ctx context.Context, q resources.Question) (resources.Decision, error) {
				asked = q
				return allow(ctx, q)
			},
			func(ctx context.Context, q resources.Question) (resources.Decision, error) {
				access = q
				return allow(ctx, q)
			},
		}.pin()
		c.Judge.Facts = facts{func(_ context.Context, account, user, project string) (resources.Facts, error) {
			topic = append(topic, account+" "+user+" "+project)
			return resources.Facts{Revision: 41, Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
		}}
	})
	r := e.send(t, question("accounts/acct-b-v1/projects/proj-b-v1/instances/i%20x"))
	if r.Status != 200 || r.Body != `{"allowed":true,"reason":"a test says so"}` {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	if len(r.Header.Get("X-Decision-ID")) != 26 || r.Header.Get("X-Policy-Revision") != "rev-1" || r.Header.Get("X-Account-Revision") != "41" {
		t.Errorf("headers %v", r.Header)
	}
	want := resources.Target{AccountID: "acct-b-v1", ProjectID: "proj-b-v1", Resource: "instances/i%20x", Rest: "instances/i%20x"}
	if asked.Target != want || asked.AccountID != "acct-a-v1" || asked.Action.ID != "project:instance:read" || asked.Principal.ID != "user-alice-v1" ||
		asked.Facts.Subject.UserID != "user-bob-v1" || asked.Now == 0 || asked.Route.Name != "authorization.check" {
		t.Errorf("asked %+v", asked)
	}
	if access.Target != (resources.Target{UserID: "user-bob-v1"}) || access.AccountID != "acct-a-v1" || access.Action.ID != "account:authorization:check" ||
		access.Facts.Subject.UserID != "user-alice-v1" {
		t.Errorf("access %+v", access)
	}
	if got := strings.Join(topic, ", "); got != "acct-a-v1 user-alice-v1 , acct-a-v1 user-bob-v1 proj-b-v1" {
		t.Errorf("facts of %s", got)
	}
	if rec := e.last(t); !rec.Allowed || rec.Action != "project:instance:read" || rec.Principal != "user-alice-v1" || rec.Path != "/api/v1/authorize/accounts/acct-b-v1/projects/proj-b-v1/instances/i%20x" {
		t.Errorf("record %+v", rec)
	}
}

// TestDenyIsAnAnswer with 200, or with the status that was set; the body is the same.
func TestDenyIsAnAnswer(t *testing.T) {
	for _, status := range []int{200, 403} {
		e := start(t, func(c *gateway.Config) {
			c.Judge.Pin, c.Doors["authorization.check"] = policy{deny, allow}.pin(), e3.Door{Judge: c.Judge, DenyStatus: status}
		})
		r := e.send(t, question("x"))
		if r.Status != status || r.Body != `{"allowed":false,"reason":"a test says no"}` || r.Header.Get("X-Decision-ID") == "" || e.last(t).Allowed {
			t.Errorf("%d %s %v", r.Status, r.Body, r.Header)
		}
		e = start(t, func(c *gateway.Config) { c.Doors["authorization.check"] = e3.Door{Judge: c.Judge, DenyStatus: status} })
		if r := e.send(t, question("x")); r.Status != 200 {
			t.Errorf("an allow: %d", r.Status)
		}
	}
}

// TestWhoMayNotAskIsNotAnswered: 403 in the error shape, and no decision is made.
func TestWhoMayNotAskIsNotAnswered(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		c.Judge.Pin = policy{func(context.Context, resources.Question) (resources.Decision, error) {
			t.Error("a decision was made")
			return resources.Decision{}, nil
		}, deny}.pin()
	})
	r := e.send(t, question("x"))
	if r.Status != 403 || strings.Contains(r.Body, "allowed") || !strings.Contains(r.Body, "FORBIDDEN") || r.Header.Get("X-Decision-ID") == "" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestDoorAtAPathOfItsOwnIsAskedAboutNone: a row that takes no path is a 400 for E3, not a panic.
func TestDoorAtAPathOfItsOwnIsAskedAboutNone(t *testing.T) {
	e := start(t, func(c *gateway.Config) {
		for i := range c.Catalogue {
			if c.Catalogue[i].Upstream == resources.UpstreamAuthorize {
				c.Catalogue[i].Path = "/ask"
			}
		}
	})
	r := e.send(t, request("POST", "/ask", "", bearer, "X-User-ID: a", "X-Account-ID: b", "X-Action: project:x:read"))
	if r.Status != 400 || !strings.Contains(r.Body, "path: is empty") {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestAllProblemsOfAQuestionAreToldAtOnce, and nothing is asked of policy.
func TestAllProblemsOfAQuestionAreToldAtOnce(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{}.pin() })
	r := e.send(t, request("POST", "/api/v1/authorize/a//b/..?q", "{}", bearer, "X-User-ID: a,b", "X-User-ID: c", "X-Action: fly"))
	got := details(t, r.Body)
	for _, want := range []string{"path: holds an empty segment", "path: holds a . or ..", "path: holds a ?", "X-User-ID: must be sent once", "X-User-ID: must be 1 to 128", "X-Account-ID: is missing", "X-Action: must have the form", "body: must be empty"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if r.Status != 400 || len(got) != 8 {
		t.Errorf("%d %q", r.Status, got)
	}
}

// TestIdentityHeadersReadInTwoWaysAreRefused: on E3 each is a 400 that names the header.
func TestIdentityHeadersReadInTwoWaysAreRefused(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{}.pin() })
	for _, h := range []struct{ name, good string }{{"X-User-ID", "user-a-v1"}, {"X-Account-ID", "acct-a-v1"}, {"X-Action", "project:x:read"}} {
		under, small := strings.ReplaceAll(h.name, "-", "_"), strings.ToLower(h.name)
		for name, lines := range map[string][]string{
			"missing": nil, "empty": {h.name + ":"}, "blank": {h.name + ":  "},
			"twice": {h.name + ": " + h.good, h.name + ": " + h.good}, "two values": {h.name + ": " + h.good, h.name + ": other"},
			"two spellings": {h.name + ": " + h.good, small + ": " + h.good}, "underscore beside": {h.name + ": " + h.good, under + ": x"},
			"underscore first": {under + ": x", h.name + ": " + h.good}, "underscore alone": {under + ": " + h.good}, "one underscore": {"X_" + h.name[2:] + ": " + h.good},
			"comma": {h.name + ": " + h.good + "," + h.good}, "comma and space": {h.name + ": " + h.good + ", other"}, "semicolon": {h.name + ": " + h.good + ";a"},
			"space before": {h.name + ":  " + h.good}, "space after": {h.name + ": " + h.good + " "}, "tab before": {h.name + ":\t" + h.good}, "tab after": {h.name + ": " + h.good + "\t"},
			"no-break space": {h.name + ": \u00a0" + h.good}, "inner space": {h.name + ": a b"}, "quotes": {h.name + `: "` + h.good + `"`}, "percent": {h.name + ": user%2da"},
			"star": {h.name + ": *"}, "not ASCII": {h.name + ": us\u00e9r"}, "too long": {h.name + ": " + strings.Repeat("a", 129)},
		} {
			t.Run(h.name+" "+name, func(t *testing.T) {
				headers := append([]string{bearer}, lines...)
				for _, other := range []string{"X-User-ID: user-a-v1", "X-Account-ID: acct-a-v1", "X-Action: project:x:read"} {
					if !strings.HasPrefix(other, h.name) {
						headers = append(headers, other)
					}
				}
				r := e.send(t, request("POST", "/api/v1/authorize/x", "", headers...))
				if r.Status != 400 || len(details(t, r.Body)) == 0 || !strings.HasPrefix(details(t, r.Body)[0], h.name+": ") {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
	}
}

// TestIdentityHeadersSentTwiceAreRefused on every other route too, credentials included.
func TestIdentityHeadersSentTwiceAreRefused(t *testing.T) {
	e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{}.pin() })
	const target = "/api/v1/accounts/acct-a-v1/roles"
	if r := e.send(t, request("GET", target, "", "Authorization: Bearer "+badToken, bearer)); r.Status != 400 {
		t.Errorf("two credentials, the first of them bad: %d; none of them is to be tried", r.Status)
	}
	for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action", "X-API-Key"} {
		if r := e.send(t, request("GET", target, "", bearer, strings.Replace(name, "-", "_", 1)+": x")); r.Status != 400 {
			t.Errorf("%s with an underscore: %d", name, r.Status)
		}
	}
	for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action", "Authorization", "X-API-Key"} {
		first := name + ": x"
		if name == "Authorization" {
			first = bearer
		}
		for _, second := range []string{name + ": x", strings.ToLower(name) + ": y", strings.ReplaceAll(name, "-", "_") + ": z"} {
			r := e.send(t, request("GET", target, "", bearer, first, second))
			if r.Status != 400 || !strings.Contains(r.Body, "must be sent once") {
				t.Errorf("%s, %s: %d %s", first, second, r.Status, r.Body)
			}
		}
	}
}

// TestOtherHeadersDecideNothing: forwarded paths, methods and addresses are not looked at.
func TestOtherHeadersDecideNothing(t *testing.T) {
	var seen []resources.Question
	e := start(t, func(c *gateway.Config) {
		c.Now = fixedNow
		c.Judge.Pin = policy{func(ctx context.Context, q resources.Question) (resources.Decision, error) {
			q.Facts.Subject = nil
			seen = append(seen, q)
			return allow(ctx, q)
		}, allow}.pin()
	})
	plain := e.send(t, question("x"))
	for _, h := range []string{
		"X-Forwarded-For: 127.0.0.1", "X-Original-URL: /public", "X-Rewrite-URL: /public", "X-Forwarded-Uri: /public", "X-HTTP-Method-Override: GET", "X-Method-Override: GET",
		"X-Forwarded-Host: internal", "X-Forwarded-User: admin", "User-Agent: kube-probe/1.30", "Cookie: user=admin", "X-Principal-Kind: service", "Forwarded: for=127.0.0.1", "Upgrade: h2c",
	} {
		r := e.send(t, question("x", h))
		if r.Status != 200 || r.Body != plain.Body {
			t.Errorf("%s: %d %s", h, r.Status, r.Body)
		}
		a, b := seen[0], seen[len(seen)-1]
		if a.Target != b.Target || a.Principal.ID != b.Principal.ID || a.Principal.Kind != b.Principal.Kind || a.AccountID != b.AccountID || a.Action != b.Action {
			t.Errorf("%s changes the question to %+v", h, b)
		}
		if r := e.send(t, request("POST", "/api/v1/authorize/x", "", h)); r.Status != 401 {
			t.Errorf("%s without a credential: %d", h, r.Status)
		}
	}
}

// TestTheAnswerIsTheEncodersJSON guarantees the encoder's bytes for every reason.
func TestTheAnswerIsTheEncodersJSON(t *testing.T) {
	for _, reason := range []string{"", "role x grants a:b:read", `a "quoted" \ one`, "<b>&amp;", "zwölf\u2028\n\x00", "\xff", strings.Repeat("long ", 100), strings.Repeat("lang ö ", 100)} {
		for _, allowed := range []bool{true, false} {
			want := must.Get(wire.Render(struct {
				Allowed bool   `json:"allowed"`
				Reason  string `json:"reason"`
			}{allowed, reason}))(t)
			say := func(context.Context, resources.Question) (resources.Decision, error) {
				return resources.Decision{Allowed: allowed, Reason: reason, PolicyRevision: "rev-1"}, nil
			}
			e := start(t, func(c *gateway.Config) { c.Judge.Pin = policy{say, allow}.pin() })
			if r := e.send(t, question("x")); r.Body != string(want) {
				t.Errorf("answered %s, want %s", r.Body, want)
			}
		}
	}
}

// TestEveryRequestAndDecisionHasAnIDOfItsOwn guarantees new ids. A request keeps its caller's
// well-formed id.
func TestEveryRequestAndDecisionHasAnIDOfItsOwn(t *testing.T) {
	e := start(t)
	seen := map[string]bool{}
	for _, named := range []string{"", "", "X-Request-ID: mine", "X-Request-ID: not a name", "X-Request-ID: " + strings.Repeat("a", 129)} {
		var headers []string
		if named != "" {
			headers = []string{named}
		}
		r := e.send(t, question("x", headers...))
		request, decision := r.Header.Get("X-Request-ID"), r.Header.Get("X-Decision-ID")
		if seen[request] || seen[decision] || len(decision) != 26 || (request == "mine") != (named == "X-Request-ID: mine") || request != "mine" && len(request) != 26 {
			t.Errorf("%q: request %q, decision %q", named, request, decision)
		}
		seen[request], seen[decision] = true, true
		if last := e.last(t); last.RequestID != request || last.DecisionID != decision {
			t.Errorf("%q: recorded %q and %q", named, last.RequestID, last.DecisionID)
		}
	}
}
