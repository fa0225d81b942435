package preview_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/preview"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

type facts struct {
	verdict.FactSource
	revision int64
}

func (f facts) Facts(context.Context, string, string, string) (resources.Facts, error) {
	return resources.Facts{Revision: f.revision, Subject: &resources.Subject{}}, nil
}

// policy allows every action to those with an assignment. It moves the clock.
type policy struct {
	verdict.Tree
	access  bool
	actions []string
	err     error
	clock   *time.Time
	takes   time.Duration
	asked   *int
}

func (p policy) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	*p.asked++
	*p.clock = p.clock.Add(p.takes)
	user := &q.Principal
	if user.Kind != resources.PrincipalUser || user.ID != q.SubjectID || user.Credential != resources.CredentialToken || q.AccountID != "acct-a-v1" {
		return resources.Decision{}, fmt.Errorf("asked %+v", q)
	}
	return resources.Decision{Allowed: len(q.Facts.Subject.Assignments) > 0}, p.err
}

func (p policy) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: p.access, Reason: "by access"}, nil
}

func (p policy) Actions() []string { return p.actions }

type changes func() (resources.Supposed, error)

func (c changes) Suppose(context.Context, string, []byte) (resources.Supposed, error) { return c() }

type headers map[string]string

func (headers) Identity(string) (value, problem string) { return "", "" }

func (h headers) Values(name string) ([]string, bool) { return []string{h[name]}, false }

type rates struct{ owed *int }

func (r rates) Owe(further int) { *r.owed += further }

func (rates) Charge(int) error { return nil }

// turns is a gate with a note of the callers inside.
type turns struct {
	entered, inside int
	err             error
}

func (g *turns) Enter(context.Context, string) error {
	if g.err == nil {
		g.entered++
		g.inside++
	}
	return g.err
}

func (g *turns) Leave() { g.inside-- }

// people returns so many people who get an assignment, in an account with so many projects.
func people(n, projects int) changes {
	return func() (s resources.Supposed, _ error) {
		s.Revision, s.Complete, s.States = 7, true, map[string]string{}
		for i := range n {
			id := fmt.Sprintf("user-%04d-v1", i)
			s.People = append(s.People, resources.SupposedPerson{
				Before: &resources.Subject{UserID: id}, After: &resources.Subject{UserID: id, Assignments: []resources.HeldRole{{}}},
			})
		}
		for i := range projects {
			s.Projects = append(s.Projects, fmt.Sprintf("proj-%04d-v1", i))
		}
		return s, nil
	}
}

// TestAnswer guarantees a row for each changed verdict, the price of one question for a hundred judged, one turn for each
// person, and an incomplete answer at each bound. Only a caller who may preview gets one, and nobody gets one by a failure.
func TestAnswer(t *testing.T) {
	broken, invalid := errors.New("broken"), resources.BadRequest(resources.Problem{Field: "changes", Text: "is missing"})
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("project:x%d:read", i)
	}
	partly := func() (resources.Supposed, error) {
		s, err := people(1, 0)()
		s.Complete = false
		return s, err
	}
	for name, c := range map[string]struct {
		changes   changes
		denied    bool
		takes     time.Duration
		revision  int64
		err, turn error
		kind      resources.Kind
		gains     int
		complete  bool
		entered   int
	}{
		"judged":                {people(2, 3), false, 0, 7, nil, nil, -1, 808, true, 2},
		"may not preview":       {people(2, 3), true, 0, 7, nil, nil, resources.KindForbidden, 0, false, 0},
		"wrong changes":         {func() (resources.Supposed, error) { return resources.Supposed{}, invalid }, false, 0, 7, nil, nil, resources.KindBadRequest, 0, false, 0},
		"a failure":             {func() (resources.Supposed, error) { return resources.Supposed{}, broken }, false, 0, 7, nil, nil, resources.KindUnavailable, 0, false, 0},
		"old facts":             {people(2, 3), false, 0, 8, nil, nil, resources.KindUnavailable, 0, false, 0},
		"policy fails":          {people(2, 3), false, 0, 7, broken, nil, resources.KindUnavailable, 0, false, 1},
		"no turn":               {people(2, 3), false, 0, 7, nil, broken, resources.KindUnavailable, 0, false, 0},
		"not everybody is read": {partly, false, 0, 7, nil, nil, -1, 101, false, 1},
		"past its time":         {people(2, 3), false, time.Second, 7, nil, nil, -1, 5, false, 1},
		"past its rows":         {people(200, 0), false, 0, 7, nil, nil, -1, 10_000, false, 100},
	} {
		t.Run(name, func(t *testing.T) {
			clock, asked, owed, gate := time.UnixMilli(5), 0, 0, &turns{err: c.turn}
			now := func() time.Time { return clock }
			tree := policy{access: !c.denied, actions: many, err: c.err, clock: &clock, takes: c.takes, asked: &asked}
			d := preview.Door{
				Judge:   &verdict.Judge{Pin: func() verdict.Tree { return tree }, Facts: facts{revision: c.revision}, Now: now},
				Changes: c.changes, Turns: gate, Now: now,
			}
			a, err := d.Answer(t.Context(), doors.Call{
				Caller: &resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", AccountID: "acct-a-v1"}, Row: &route.Row{}, Path: "acct-a-v1",
				Headers: headers{"Content-Type": "application/json"}, Rates: rates{&owed}, Body: []byte("{}"),
			})
			if gate.inside != 0 || gate.entered != c.entered || owed > asked/100 || c.gains > 0 && owed != 2*c.gains/100 {
				t.Errorf("%d turns, %d not given back, %d asked, %d owed", gate.entered, gate.inside, asked, owed)
			}
			if c.kind >= 0 {
				if !resources.IsKind(err, c.kind) || a.Body != nil || a.Status != 0 {
					t.Errorf("%v %d %s", err, a.Status, a.Body)
				}
				return
			}
			var out struct {
				Gains, Loses []any
				Complete     bool
				Revision     int64 `json:"account_revision"`
			}
			if e := json.Unmarshal(a.Body, &out); err != nil || e != nil || a.Status != 200 || a.Outcome.ID != "" {
				t.Fatalf("%v %v %d %s", err, e, a.Status, a.Body)
			}
			if len(out.Gains) != c.gains || out.Loses == nil || len(out.Loses) > 0 || out.Complete != c.complete || out.Revision != 7 {
				t.Errorf("%d gains, %d losses, complete %t, revision %d", len(out.Gains), len(out.Loses), out.Complete, out.Revision)
			}
		})
	}
}

// TestMalformedAccountIsRefused guarantees 400 with each problem of the path, before policy is asked and facts are read.
func TestMalformedAccountIsRefused(t *testing.T) {
	row := must.Get(route.NewRow(resources.Route{Method: "POST", Path: "/api/v1/accounts/{accountId}/preview", Action: "account:authorization:explain"}))(t)
	tree := func() verdict.Tree {
		t.Error("policy is asked")
		return policy{}
	}
	for account, problems := range map[string]int{"..": 1, "a;b": 2, "a%2e": 2, "a%00": 2, "a%20b": 1, "accounts": 1, strings.Repeat("a", 129): 1} {
		d := preview.Door{Judge: &verdict.Judge{Pin: tree, Facts: facts{}, Now: time.Now}, Now: time.Now}
		a, err := d.Answer(t.Context(), doors.Call{
			Caller: &resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", AccountID: account}, Row: row, Path: account,
			Headers: headers{"Content-Type": "application/json"}, Body: []byte("{}"),
		})
		if !resources.IsKind(err, resources.KindBadRequest) || len(resources.AsError(err).Problems) != problems || a.Body != nil {
			t.Errorf("%s: %v", account, err)
		}
	}
}
