package original_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors/original"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// headers are those of a call; each was sent once.
type headers map[string]string

func (h headers) Identity(name string) (value, problem string) { return h[name], "" }

func (h headers) Values(name string) (values []string, odd bool) {
	if value, sent := h[name]; sent {
		values = []string{value}
	}
	return values, false
}

// parts are what a judge works with; each can be made to fail.
type parts struct {
	access, decide             resources.Decision
	accessErr, decideErr       error
	factsErr, factsErrOnceMore error
	asked                      []resources.Question
	facts                      int
}

func (p *parts) Access(_ context.Context, q resources.Question) (resources.Decision, error) {
	p.asked = append(p.asked, q)
	return p.access, p.accessErr
}

func (p *parts) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return p.decide, p.decideErr
}

func (p *parts) Facts(context.Context, string, string, string) (resources.Facts, error) {
	if p.facts++; p.facts > 1 {
		return resources.Facts{}, p.factsErrOnceMore
	}
	return resources.Facts{Revision: 7}, p.factsErr
}

func rows() []resources.Route {
	row := func(name, method, host, path, action string) resources.Route {
		return resources.Route{Name: name, Method: method, Host: host, Path: path, Action: action, Effect: "read", Upstream: "external"}
	}
	all := []resources.Route{
		row("read", "GET", "", "/accounts/{accountId}/projects/{projectId:proj}/{rest+}", "project:widget:read"),
		row("settings", "*", "", "/accounts/{accountId}/projects/{projectId}", "account:project:read"),
		row("own", "GET", "w.example", "/own/{userId}", "project:widget:read"),
		row("open", "GET", "", "/open", ""),
		row("list", "GET", "", "/accounts", "account:account:read"),
	}
	all[3].Access = []string{"public"}
	all = append(all, resources.Route{Name: "docs", Spec: "N13", Method: "GET", Path: "/docs", Access: []string{"public"}, Upstream: "apidoc"},
		resources.Route{Name: "well-known", Method: "GET", Path: "/.well-known/x", Access: []string{"public"}, Upstream: resources.UpstreamAuthorize})
	all[0].Audience = "widgets"
	return all
}

func judge(t *testing.T, p *parts) *original.Judge {
	t.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := assertion.NewKeys(master, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	calls := &original.Calls{}
	if err := calls.Set(rows()); err != nil {
		t.Fatal(err)
	}
	return &original.Judge{
		Verdicts: &verdict.Judge{Policy: p, Facts: p, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}, Now: time.Now},
		Calls:    calls, Assertions: keys,
	}
}

var (
	yes   = resources.Decision{Allowed: true, Reason: "yes"}
	alice = resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", AccountID: "acct-a-v1", Credential: resources.CredentialToken}
)

const place = "/accounts/acct-b-v1/projects/proj-b-v1"

// TestACallIsFoundAsTheEdgeWouldJudgeIt: the row, the account in question and the place.
func TestACallIsFoundAsTheEdgeWouldJudgeIt(t *testing.T) {
	calls := judge(t, &parts{}).Calls
	for _, c := range []struct{ host, method, path, row, account, target string }{
		{"", "GET", place + "/x/y/z", "read", "acct-b-v1", "acct-b-v1 proj-b-v1 x/y "},
		{"", "HEAD", place + "/x", "read", "acct-b-v1", "acct-b-v1 proj-b-v1  "},
		{"", "PATCH", place, "settings", "acct-b-v1", "acct-b-v1   "}, // an account action is judged in the account
		{"w.example", "GET", "/own/user-c-v1", "own", "acct-own-v1", "  own/user-c-v1 user-c-v1"},
		{"", "GET", "/accounts", "list", "acct-own-v1", "   "},
	} {
		got, err := calls.Find(original.Request{Host: c.host, Method: c.method, Path: c.path}, "acct-own-v1")
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		target := strings.Join([]string{got.Target.AccountID, got.Target.ProjectID, got.Target.Resource, got.Target.UserID}, " ")
		if got.Route.Row.Name != c.row || got.AccountID != c.account || target != c.target {
			t.Errorf("%s %s: %s in %s at %q, want %s in %s at %q", c.method, c.path, got.Route.Row.Name, got.AccountID, target, c.row, c.account, c.target)
		}
	}
	for _, c := range []struct {
		host, method, path string
		want               resources.Kind
	}{
		{"", "POST", place + "/x", resources.KindNotFound},
		{"", "OPTIONS", "/open", resources.KindNotFound},
		{"other.example", "GET", "/own/user-c-v1", resources.KindNotFound},
		{"", "GET", "/own/user-c-v1", resources.KindNotFound},
		{"", "GET", "/accounts/acct-b-v1/projects/widget/x", resources.KindBadRequest},
		{"", "GET", place + "/projects/x", resources.KindBadRequest},
		{"", "GET", place + "/", resources.KindNotFound},
		{"", "GET", place + "/x/", resources.KindBadRequest},
		{"", "get", "/open", resources.KindBadRequest},
		{"", "", "/open", resources.KindBadRequest},
		{"", "GET", "open", resources.KindBadRequest},
		{"", "GET", "", resources.KindBadRequest},
		{"", "GET", "/", resources.KindNotFound},
		{"", "GET", "/open?x", resources.KindNotFound},
		{"", "GET", "/%2e/open", resources.KindNotFound},
		{"", "GET", place + "/%2e%2e", resources.KindBadRequest},
	} {
		r := original.Request{Host: c.host, Method: c.method, Path: c.path}
		if got, err := calls.Find(r, ""); !resources.IsKind(err, c.want) || got.Route != nil || calls.Public(r) {
			t.Errorf("%s %s: %+v, %v", c.method, c.path, got, err)
		}
	}
	if !calls.Public(original.Request{Method: "GET", Path: "/open"}) || calls.Public(original.Request{Method: "GET", Path: place + "/x"}) {
		t.Error("what is public is not told from what is not")
	}
	for _, path := range []string{"/docs", "/.well-known/x"} { // the gateway's own, which no host with rows has
		for host, open := range map[string]bool{"": true, "other.example": true, "w.example": false} {
			if got := calls.Public(original.Request{Host: host, Method: "GET", Path: path}); got != open {
				t.Errorf("%s on %q is open: %v", path, host, got)
			}
		}
	}
	if !calls.Public(original.Request{Host: "w.example", Method: "GET", Path: "/open"}) {
		t.Error("an open row of an operator is not for every host")
	}
	if _, err := (&original.Calls{}).Find(original.Request{Method: "GET", Path: "/open"}, ""); !resources.IsKind(err, resources.KindNotFound) {
		t.Errorf("without rows: %v", err)
	}
}

// TestRowsInUseStayOnAnError, and other ones are taken whole.
func TestRowsInUseStayOnAnError(t *testing.T) {
	calls := judge(t, &parts{}).Calls
	for name, bad := range map[string]resources.Route{
		"a place twice":     {Name: "x", Method: "GET", Path: "/open"},
		"a path":            {Name: "x", Method: "GET", Path: "/{rest+}/x"},
		"an action":         {Name: "x", Method: "GET", Path: "/x", Action: "read"},
		"a form of no ids":  {Name: "x", Method: "GET", Path: "/{id:sgx}"},
		"a literal account": {Name: "x", Method: "GET", Path: "/accounts/acct-a-v1/report"},
	} {
		all := append(rows(), bad)
		if original.Check(all) == nil || calls.Set(all) == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := calls.Find(original.Request{Method: "GET", Path: "/open"}, ""); err != nil {
		t.Error(err)
	}
	if err := calls.Set(rows()[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := calls.Find(original.Request{Method: "GET", Path: "/open"}, ""); !resources.IsKind(err, resources.KindNotFound) {
		t.Errorf("a row that is gone: %v", err)
	}
}

// TestNoErrorLetsACallPass: whatever fails, there are no headers beside it.
func TestNoErrorLetsACallPass(t *testing.T) {
	broken := errors.New("broken")
	read := original.Request{Method: "GET", Path: place + "/x"}
	for name, c := range map[string]struct {
		parts   parts
		request original.Request
		caller  resources.Principal
		headers headers
		want    resources.Kind
	}{
		"facts":                   {parts{access: yes, factsErr: broken}, read, alice, nil, resources.KindUnavailable},
		"access":                  {parts{access: yes, accessErr: broken}, read, alice, nil, resources.KindUnavailable},
		"a denial":                {parts{}, read, alice, nil, resources.KindForbidden},
		"a denial that turns":     {parts{decide: yes}, read, alice, nil, resources.KindForbidden},
		"the reason's facts":      {parts{decide: yes, factsErrOnceMore: broken}, read, alice, nil, resources.KindUnavailable},
		"the reason":              {parts{decide: yes, decideErr: broken}, read, alice, nil, resources.KindUnavailable},
		"nobody":                  {parts{access: yes}, read, resources.Principal{Kind: resources.PrincipalNone}, nil, resources.KindNoCredential},
		"nobody, no row":          {parts{access: yes}, original.Request{Method: "GET", Path: "/none"}, resources.Principal{Kind: resources.PrincipalNone}, nil, resources.KindNoCredential},
		"no row":                  {parts{access: yes}, original.Request{Method: "GET", Path: "/none"}, alice, nil, resources.KindNotFound},
		"another user":            {parts{access: yes}, read, alice, headers{"X-User-ID": "user-bob-v1"}, resources.KindBadRequest},
		"another account":         {parts{access: yes}, read, alice, headers{"X-Account-ID": "acct-a-v1"}, resources.KindBadRequest},
		"another action":          {parts{access: yes}, read, alice, headers{"X-Action": "project:widget:write"}, resources.KindBadRequest},
		"a claim and no row":      {parts{access: yes}, original.Request{Method: "GET", Path: "/none"}, alice, headers{"X-User-ID": "user-bob-v1"}, resources.KindNotFound},
		"an action of nobody's":   {parts{access: yes}, original.Request{Method: "GET", Path: "/open"}, alice, headers{"X-Action": "project:widget:read"}, resources.KindBadRequest},
		"a public call is denied": {parts{}, original.Request{Method: "GET", Path: "/open"}, alice, nil, resources.KindForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := judge(t, &c.parts).Judge(t.Context(), original.Question{Request: c.request, Caller: c.caller, Headers: c.headers})
			if !resources.IsKind(err, c.want) || a.Verdict.Allowed || len(a.Headers) > 0 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

// TestADenialSaysWhatTheQuestionWouldSay, and not what the enforcement says.
func TestADenialSaysWhatTheQuestionWouldSay(t *testing.T) {
	p := &parts{access: resources.Decision{Reason: "of the enforcement"}, decide: resources.Decision{Reason: "of the question"}}
	a, err := judge(t, p).Judge(t.Context(), original.Question{Request: original.Request{Method: "GET", Path: place + "/x"}, Caller: alice, Headers: headers{}})
	if e := resources.AsError(err); e.Kind != resources.KindForbidden || len(e.Problems) != 1 || e.Problems[0].Text != "of the question" || a.Verdict.Reason != "of the question" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestAnybodyIsNobodyOnAPublicCall: a credential that came along changes nothing, as at the edge.
func TestAnybodyIsNobodyOnAPublicCall(t *testing.T) {
	p := &parts{access: yes}
	claims := headers{"X-User-ID": "user-bob-v1", "X-Account-ID": "acct-b-v1"} // which the edge doesn't look at, either
	a, err := judge(t, p).Judge(t.Context(), original.Question{Request: original.Request{Method: "GET", Path: "/open"}, Caller: alice, Headers: claims, RequestID: "r"})
	if err != nil || len(a.Headers) != 5 || p.facts != 0 || p.asked[0].Principal.Kind != resources.PrincipalNone || p.asked[0].AccountID != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, h := range a.Headers {
		if want := map[string]string{"X-Request-ID": "r"}[h.Name]; h.Value != want {
			t.Errorf("%s is %q, want %q", h.Name, h.Value, want)
		}
	}
}
