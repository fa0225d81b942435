package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/gateway/client/clienttest"
)

// question is one that the test may allow.
func question() client.Question {
	return client.Question{User: "user-a-v1", Account: "acct-a-v1", Action: "project:instance:read", Path: "accounts/acct-a-v1/projects/p/instances"}
}

func evaluation(user string) client.Evaluation {
	return client.Evaluation{
		Subject: client.Subject{Type: client.TypeUser, ID: user}, Action: client.Action{Name: "project:instance:read"},
		Resource: client.Resource{Type: "project", ID: "p"},
	}
}

// onlyAda allows the questions about one user.
func onlyAda(e client.Evaluation) bool { return e.Subject.ID == "user-a-v1" }

func TestCheckAsksWhatIsMeant(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = onlyAda
	c := g.Client(t)
	d, err := c.Check(t.Context(), question())
	if err != nil || !d.Allowed || d.Reason != "the test says true" || d.ID != "decision" || d.PolicyRevision != "policy" || d.AccountRevision != "1" {
		t.Errorf("%+v, %v", d, err)
	}
	other := question()
	other.User = "user-b-v1"
	if d, err := c.Check(t.Context(), other); err != nil || d.Allowed || d.Reason != "the test says false" {
		t.Errorf("%+v, %v", d, err)
	}
	q := g.Questions()[0]
	if q.Resource.ID != question().Path || q.Action.Name != question().Action || q.Resource.Properties["account_id"] != question().Account {
		t.Errorf("asked %+v", q)
	}
}

// TestQuestionThatWouldArriveAsAnotherIsNotSent guarantees that nothing cuts, cleans or encodes it.
func TestQuestionThatWouldArriveAsAnotherIsNotSent(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = func(client.Evaluation) bool { return true }
	c := g.Client(t)
	for name, change := range map[string]func(*client.Question){
		"fragment":                    func(q *client.Question) { q.Path = "accounts/a#/projects/p" },
		"query":                       func(q *client.Question) { q.Path = "accounts/a?b" },
		"empty query":                 func(q *client.Question) { q.Path = "accounts/a?" },
		"a space":                     func(q *client.Question) { q.Path = "accounts/a b" },
		"half an escape":              func(q *client.Question) { q.Path = "accounts/%" },
		"a line break":                func(q *client.Question) { q.Path = "accounts/\r\n" },
		"user padded":                 func(q *client.Question) { q.User += " " },
		"user split":                  func(q *client.Question) { q.User += "\r\nX-Admin: 1" },
		"no user":                     func(q *client.Question) { q.User = "" },
		"no action":                   func(q *client.Question) { q.Action = "" },
		"account in another alphabet": func(q *client.Question) { q.Account = "аcct" },
	} {
		t.Run(name, func(t *testing.T) {
			q := question()
			change(&q)
			if d, err := c.Check(t.Context(), q); err == nil || d.Allowed {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	e := evaluation("user-\xff")
	if d, err := c.Evaluate(t.Context(), e); err == nil || d.Allowed {
		t.Errorf("invalid UTF-8: %+v", d)
	}
	e = evaluation("user-a-v1")
	e.Resource.Properties = map[string]any{"account_id": "acct-\xff"}
	if d, err := c.EvaluateAll(t.Context(), []client.Evaluation{e}, client.ExecuteAll); err == nil || d[0].Allowed {
		t.Errorf("invalid UTF-8 in a batch: %+v", d)
	}
	type inner struct{ Text string }
	for name, nested := range map[string]any{
		"part of a struct": struct{ inner }{inner{"\xff"}},
		"list":             []string{"\xff"}, "object": map[string]any{"file": `\` + "\xff"}, "key": map[string]int{"\xff": 1},
		"struct": &client.Error{Code: "\xff"}, "named": client.Semantic("\xff"),
	} {
		e := evaluation("user-a-v1")
		e.Context = map[string]any{"arguments": nested}
		if d, err := c.Evaluate(t.Context(), e); err == nil || d.Allowed {
			t.Errorf("invalid UTF-8 in a %s: %+v", name, d)
		}
	}
	if n := len(g.Questions()); n > 0 {
		t.Errorf("%d questions were sent", n)
	}
	e.Resource.Properties = nil
	type node struct {
		Text string
		Up   *node `json:"-"`
	}
	circle := &node{Text: "\ufffd"}
	circle.Up = circle
	e.Context = map[string]any{"arguments": []any{circle, `\ufffd`, nil, json.RawMessage(`{}`)}}
	if d, err := c.Evaluate(t.Context(), e); err != nil || !d.Allowed {
		t.Errorf("valid UTF-8: %+v, %v", d, err)
	}
}

// TestPathIsSentUnderAnyURL guarantees that a path is asked about as given, if the URL of the gateway is not: its scheme has
// capital letters, or it ends in slashes.
func TestPathIsSentUnderAnyURL(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = onlyAda
	for _, url := range []string{strings.Replace(g.URL, "http", "HTTP", 1), g.URL + "//"} {
		c, err := client.New(client.Options{URL: url, Token: client.StaticToken(clienttest.Token)})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := c.Check(t.Context(), question()); err != nil || !d.Allowed {
			t.Errorf("%s: %+v, %v", url, d, err)
		}
	}
}

// answers are what a broken or hostile gateway might say.
var answers = map[string]struct {
	status int
	body   string
}{
	"allowed in a refusal": {403, `{"allowed":true,"decision":true}`}, "allowed in an error": {500, `{"allowed":true,"decision":true}`},
	"allowed by a proxy": {302, `{"allowed":true,"decision":true}`}, "nothing": {200, ``}, "null": {200, `null`}, "no decision": {200, `{"reason":"yes"}`},
	"a string": {200, `{"allowed":"true","decision":"true"}`}, "a number": {200, `{"allowed":1,"decision":1}`}, "half": {200, `{"allowed":true,"decision":true`},
	"an error beside": {200, `{"decision":true,"context":{"error":{"status":400,"message":"no"}}}`}, "a page": {200, `<html>true</html>`},
	"created": {201, `{"allowed":true,"decision":true}`}, "an ill-typed context": {200, `{"decision":true,"context":{"reason":7}}`},
}

func TestEveryOtherAnswerDenies(t *testing.T) {
	for name, a := range answers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(a.body))
			}))
			defer server.Close()
			c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
			if err != nil {
				t.Fatal(err)
			}
			if d, err := c.Check(t.Context(), question()); d.Allowed || err == nil && a.status != http.StatusForbidden {
				t.Errorf("E3: %+v, %v", d, err)
			}
			if d, err := c.Evaluate(t.Context(), evaluation("user-a-v1")); d.Allowed || err == nil {
				t.Errorf("AuthZEN: %+v, %v", d, err)
			}
			d, err := c.EvaluateAll(t.Context(), []client.Evaluation{evaluation("user-a-v1")}, client.ExecuteAll)
			if err == nil || len(d) != 1 || d[0].Allowed {
				t.Errorf("batch: %+v, %v", d, err)
			}
		})
	}
}

// TestCheckWithoutAVerdictSaysWhy guarantees that the error of a 503 of E3 has its reason. The body is a decision's.
func TestCheckWithoutAVerdictSaysWhy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"allowed":false,"reason":"policy evaluation took too long"}`))
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Check(t.Context(), question())
	var refused *client.Error
	if d.Allowed || !errors.As(err, &refused) || refused.Code != "Service Unavailable" || refused.Message != "policy evaluation took too long" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestBatchKeepsItsOrder(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = onlyAda
	c := g.Client(t)
	all := []client.Evaluation{evaluation("user-b-v1"), evaluation("user-a-v1"), evaluation("user-b-v1")}
	for semantic, want := range map[client.Semantic][]bool{
		client.ExecuteAll: {false, true, false}, client.DenyOnFirstDeny: {false, false, false}, client.PermitOnFirstPermit: {false, true, false},
		"": {false, true, false},
	} {
		d, err := c.EvaluateAll(t.Context(), all, semantic)
		if err != nil || len(d) != len(want) {
			t.Fatalf("%s: %d decisions, %v", semantic, len(d), err)
		}
		for i := range want {
			if d[i].Allowed != want[i] {
				t.Errorf("%s: item %d is %t", semantic, i, d[i].Allowed)
			}
		}
	}
	if d, err := c.EvaluateAll(t.Context(), nil, client.ExecuteAll); err != nil || len(d) != 0 {
		t.Errorf("nothing: %v, %v", d, err)
	}
	var refused *client.Error
	if d, err := c.EvaluateAll(t.Context(), all[1:2], "deny_all"); !errors.As(err, &refused) || refused.Status != 400 || d[0].Allowed {
		t.Errorf("an unknown semantic: %v, %v", d, err)
	}
}

func TestShortBatchDenies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"evaluations":[{"decision":true}]}`))
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.EvaluateAll(t.Context(), []client.Evaluation{evaluation("a"), evaluation("b")}, client.ExecuteAll)
	if err == nil || len(d) != 2 || d[0].Allowed || d[1].Allowed {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestSearchWalksAllPages(t *testing.T) {
	g := clienttest.New(t)
	g.Allow = func(e client.Evaluation) bool { return e.Subject.ID != "user-5" && e.Action.Name != "b" }
	for i := range 10 {
		g.Subjects = append(g.Subjects, client.Subject{Type: "user", ID: fmt.Sprintf("user-%d", i)}, client.Subject{Type: "other", ID: "x"})
		g.Resources = append(g.Resources, client.Resource{Type: "project", ID: fmt.Sprintf("proj-%d", i)})
	}
	g.Actions = []client.Action{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	c := g.Client(t)
	s := client.Search{Evaluation: client.Evaluation{
		Subject: client.Subject{Type: "user", ID: "user-1"}, Action: client.Action{Name: "a"}, Resource: client.Resource{Type: "project", ID: "proj-1"},
	}, Limit: 2}
	var names []string
	for user, err := range c.Subjects(t.Context(), s) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, user.ID)
	}
	if got := strings.Join(names, " "); got != "user-0 user-1 user-2 user-3 user-4 user-6 user-7 user-8 user-9" {
		t.Errorf("subjects %s", got)
	}
	n := 0
	for range c.Resources(t.Context(), s) {
		n++
	}
	for a, err := range c.Actions(t.Context(), s) {
		if n++; err != nil || a.Name == "b" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if n != 12 {
		t.Errorf("%d resources and actions", n)
	}
	for range c.Resources(t.Context(), s) { // a walk may end early
		break
	}
}

// TestSearchSaysThatItIsNotAll guarantees that the walk ends with an error in three cases: an error in the middle, the
// same token twice, a type the gateway can't enumerate.
func TestSearchSaysThatItIsNotAll(t *testing.T) {
	for name, body := range map[string]string{
		"a token that stays":  `{"results":[{"type":"user","id":"a"}],"page":{"next_token":"1"}}`,
		"no results":          `{"page":{"next_token":""}}`,
		"cannot be completed": `{"results":[],"page":{"next_token":""},"context":{"complete":false}}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
			defer server.Close()
			c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
			if err != nil {
				t.Fatal(err)
			}
			var last error
			n := 0
			for _, err := range c.Subjects(t.Context(), client.Search{}) {
				if last, n = err, n+1; n > 10 {
					break
				}
			}
			if last == nil || strings.Contains(name, "completed") != errors.Is(last, client.ErrIncomplete) {
				t.Errorf("after %d: %v", n, last)
			}
		})
	}
}

func TestOnlyWhatMayHelpIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fail   []int
		inside bool
		sent   int
		wants  int
	}{
		"a broken connection":   {[]int{0}, true, 2, 0},
		"503 and 502":           {[]int{503, 502}, true, 3, 0},
		"503 for ever":          {[]int{503, 503, 503, 503}, false, 3, 503},
		"429 is the caller's":   {[]int{429, 429}, false, 1, 429},
		"400 stays":             {[]int{400, 400}, false, 1, 400},
		"500 may be half a way": {[]int{500, 500}, false, 1, 500},
	} {
		t.Run(name, func(t *testing.T) {
			g := clienttest.New(t)
			g.Allow = onlyAda
			g.Fail(c.fail...)
			var sent atomic.Int32
			counted, err := client.New(client.Options{URL: g.URL, Token: client.StaticToken(clienttest.Token), Transport: counting{&sent}})
			if err != nil {
				t.Fatal(err)
			}
			d, err := counted.Evaluate(t.Context(), evaluation("user-a-v1"))
			var answered *client.Error
			if d.Allowed != c.inside || (err == nil) != c.inside || int(sent.Load()) != c.sent {
				t.Errorf("%+v, %v after %d", d, err, sent.Load())
			}
			if c.wants != 0 && (!errors.As(err, &answered) || answered.Status != c.wants || answered.RequestID != "request" || len(answered.Details) != 1) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// counting counts what is sent.
type counting struct{ n *atomic.Int32 }

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

func TestGatewayThatHangsDeniesInTime(t *testing.T) {
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(end)
	c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x"), Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := c.Check(context.Background(), question()); d.Allowed || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestTokenIsSentNowhereElse(t *testing.T) {
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := c.Check(t.Context(), question()); d.Allowed || err == nil || asked.Load() {
		t.Errorf("%+v, %v, asked %t", d, err, asked.Load())
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	token := client.StaticToken("x")
	for name, o := range map[string]client.Options{
		"no URL": {Token: token}, "a file": {URL: "file:///x", Token: token}, "a user": {URL: "https://a:b@h", Token: token}, "a query": {URL: "https://h?x", Token: token},
		"no token": {URL: "https://h"}, "no time": {URL: "https://h", Token: token, Timeout: -1},
	} {
		if _, err := client.New(o); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	c, err := client.New(client.Options{URL: "https://h", Token: func(context.Context) (string, error) { return "", errors.New("no token") }})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := c.Check(t.Context(), question()); err == nil || d.Allowed {
		t.Errorf("without a token: %+v", d)
	}
}
