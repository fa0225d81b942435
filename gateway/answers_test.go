package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// state is all on which an answer rests, in one place; each change of it is a change of the
// world that the next answer has to show.
type state struct {
	now      time.Time
	revision int64 // of the account's facts
	home     int64 // the revision of those in which users are found; none are remembered for 0
	policy   string
	caller   string // whom the token names; "" is nobody any more
	allowed  bool
	until    time.Duration // how long policy vouches for an answer
	waits    bool          // nothing can be said of the facts without waiting
	breaks   bool          // asking for the facts panics
	decided  int
}

// standing is a caller who was found as they are in the state.
type standing struct {
	s      *state
	caller string
}

func (s standing) Stands(time.Time) bool { return s.s.caller == s.caller }

// judge is the policy and the facts of a state.
type judge struct{ s *state }

func (j judge) Revision() string { return j.s.policy }

func (j judge) Access(_ context.Context, q resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true, Reason: "may ask", PolicyRevision: j.s.policy, Until: q.Now + resources.Time(time.Hour.Milliseconds())}, nil
}

// Decide says in its reason all that the answer rests on.
func (j judge) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	j.s.decided++
	return resources.Decision{
		Allowed: j.s.allowed, PolicyRevision: j.s.policy, Until: q.Now + resources.Time(j.s.until.Milliseconds()),
		Reason: fmt.Sprintf("%s asks whether %s may %s on %s of %s at revision %d", q.Principal.ID, q.Facts.Subject.UserID, q.Action.ID, q.Target.Rest, q.AccountID, q.Facts.Revision),
	}, nil
}

func (j judge) Facts(_ context.Context, account, user, _ string) (resources.Facts, error) {
	return resources.Facts{Generation: "one", Revision: j.s.revision, Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
}

func (j judge) Current(of resources.Stamp) bool {
	if j.s.breaks {
		panic("broken")
	}
	revision := j.s.revision
	if of.AccountID == home {
		revision = j.s.home
	}
	return !j.s.waits && of == resources.Stamp{AccountID: of.AccountID, Generation: "one", Revision: revision}
}

// answering is an edge on a state.
func answering(t testing.TB, answers int, change ...func(*gateway.Config)) (*edge, *state) {
	t.Helper()
	s := &state{now: time.Now(), revision: 1, home: 7, policy: "rev-1", caller: "service-a", allowed: true, until: time.Hour}
	e := start(t, append(change, func(c *gateway.Config) {
		c.Prepare = func(r gateway.Record) string {
			return fmt.Sprint(r.RequestID, r.DecisionID, r.Path, r.Status, r.Reason)
		}
		c.Answers, c.Policy, c.Facts, c.Now = answers, judge{s}, judge{s}, func() time.Time { return s.now }
		c.Authn = authn{func(_ context.Context, token string) (resources.Principal, error) {
			if s.caller == "" {
				return resources.Principal{}, &resources.Error{Kind: resources.KindBadCredential, Message: "The token is not valid."}
			}
			p := resources.Principal{Kind: resources.PrincipalService, ID: s.caller + token[len(goodToken):], Credential: resources.CredentialToken}
			if strings.HasPrefix(s.caller, "user-") {
				p.Kind, p.AccountID = resources.PrincipalUser, home
			}
			if p.Kind == resources.PrincipalUser && s.home > 0 {
				p.FoundIn = resources.Stamp{AccountID: home, Generation: "one", Revision: s.home}
			}
			if s.caller != "service-none" {
				p.Standing = standing{s, s.caller}
			}
			return p, nil
		}}
	})...)
	return e, s
}

// home is the account of callers who are users.
const home = "acct-home-v1"

const asked = "accounts/acct-a-v1/projects/proj-p-v1/instances/i-1"

// TestAnAnswerThatStandsIsGivenAgain, with ids of its own, and recorded like any other.
func TestAnAnswerThatStandsIsGivenAgain(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		e, s := answering(t, 0)
		s.allowed = allowed
		first := e.send(t, question(asked))
		then := e.last(t)
		s.now, s.home = s.now.Add(time.Second), s.home+1 // where no service was found
		again := e.send(t, question(asked))
		record := e.last(t)
		if s.decided != 1 || again.Status != first.Status || again.Body != first.Body {
			t.Errorf("%d decisions, %+v, then %+v", s.decided, first, again)
		}
		for name, value := range first.Header {
			switch got := again.Header[name]; {
			case name == "X-Request-Id" || name == "X-Decision-Id":
				if len(got) != 1 || got[0] == value[0] || len(got[0]) != len(value[0]) {
					t.Errorf("%s is %s, before %s", name, got, value)
				}
			case name != "Date" && (len(got) != 1 || got[0] != value[0]):
				t.Errorf("%s is %s, before %s", name, got, value)
			}
		}
		if record.RequestID != again.Header.Get("X-Request-Id") || record.DecisionID != again.Header.Get("X-Decision-Id") || !record.At.Equal(s.now) || !record.Remembered {
			t.Errorf("recorded %+v", record)
		}
		if want := fmt.Sprint(then.Path, then.Status, then.Reason); record.Prepared != want || then.Prepared != "" {
			t.Errorf("prepared is %q and before it was remembered %q, want %q", record.Prepared, then.Prepared, want)
		}
		then.Prepared = record.Prepared
		then.RequestID, then.DecisionID, then.At, then.Duration, then.Remembered = record.RequestID, record.DecisionID, record.At, record.Duration, true
		if then != record {
			t.Errorf("recorded %+v, want %+v", record, then)
		}
		if named := e.send(t, question(asked, "X-Request-ID: mine")); named.Header.Get("X-Request-Id") != "mine" || s.decided != 1 || e.last(t).RequestID != "mine" {
			t.Errorf("%+v", named)
		}
	}
}

// TestAnAnswerStandsNoLonger than all on which it rests.
func TestAnAnswerStandsNoLonger(t *testing.T) {
	for name, change := range map[string]func(*edge, *state){
		"than its facts":                     func(_ *edge, s *state) { s.revision++ },
		"than can be said without waiting":   func(_ *edge, s *state) { s.waits = true },
		"than the policy":                    func(_ *edge, s *state) { s.policy = "rev-2" },
		"than the caller":                    func(_ *edge, s *state) { s.caller = "service-b" },
		"than policy vouches for it":         func(_ *edge, s *state) { s.now = s.now.Add(s.until) },
		"before the time at which it was so": func(_ *edge, s *state) { s.now = s.now.Add(-time.Second) },
		"than the catalogue":                 func(e *edge, _ *state) { _ = e.SetCatalogue(catalogue()) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, caller := range []string{"service-a", "user-a"} {
				e, s := answering(t, 0)
				s.caller = caller
				e.send(t, question(asked))
				if e.send(t, question(asked)); s.decided != 1 {
					t.Errorf("%d decisions where nothing changed", s.decided)
				}
				change(e, s)
				if got := e.send(t, question(asked)); s.decided != 2 || got.Status != 200 {
					t.Errorf("%d decisions, %+v", s.decided, got)
				}
			}
		})
	}
	t.Run("than the facts in which the caller was found", func(t *testing.T) {
		e, s := answering(t, 0)
		s.caller = "user-a"
		e.send(t, question(asked))
		s.home++
		if e.send(t, question(asked)); s.decided != 2 {
			t.Errorf("%d decisions", s.decided)
		}
	})
	t.Run("than the token", func(t *testing.T) {
		e, s := answering(t, 0)
		e.send(t, question(asked))
		s.caller = ""
		if got := e.send(t, question(asked)); got.Status != 401 {
			t.Errorf("%+v", got)
		}
	})
}

// TestWhatIsNotRemembered goes through all steps each time: what is not vouched for, and
// what is more than a question.
func TestWhatIsNotRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		prepare func(*state)
	}{
		"what policy does not vouch for":   {question(asked), func(s *state) { s.until = 0 }},
		"a caller who can't be told again": {question(asked), func(s *state) { s.caller = "service-none" }},
		"a user who was found nowhere":     {question(asked), func(s *state) { s.caller, s.home = "user-a", 0 }},
		"a strict question":                {question(asked, "X-Consistency: strict"), nil},
		"an idempotency key":               {question(asked, "Idempotency-Key: k"), nil},
		"a long path":                      {question(asked + strings.Repeat("/"+strings.Repeat("a", 99), 11)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := answering(t, 0)
			if c.prepare != nil {
				c.prepare(s)
			}
			for range 3 {
				if got := e.send(t, c.request); got.Status != 200 || e.last(t).Remembered {
					t.Fatalf("%+v", got)
				}
			}
		})
	}
	for name, header := range map[string]string{
		"another consistency": "X-Consistency: eventual", "a blank consistency": "X-Consistency:", "an encoding": "Content-Encoding: gzip", "a key": "X-API-Key: k",
		"a second user": "X-User-ID: user-bob-v1", "a second account": "X_Account_ID: acct-a-v1", "a second action": "x-action: project:instance:read",
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := answering(t, 0)
			e.send(t, question(asked))
			if got := e.send(t, question(asked, header)); e.last(t).Remembered || name != "a key" && got.Status != 400 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("a body", func(t *testing.T) {
		e, _ := answering(t, 0)
		e.send(t, question(asked))
		if got := e.send(t, strings.Replace(question(asked, "Content-Length: 2"), "\r\n\r\n", "\r\n\r\n{}", 1)); got.Status != 400 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("anything with no room", func(t *testing.T) {
		e, s := answering(t, -1)
		e.send(t, question(asked))
		if e.send(t, question(asked)); s.decided != 2 {
			t.Errorf("%d decisions", s.decided)
		}
	})
}

// TestAPanicOverARememberedAnswerIsAnError, once: the next request is served.
func TestAPanicOverARememberedAnswerIsAnError(t *testing.T) {
	e, s := answering(t, 0)
	e.send(t, question(asked))
	s.breaks = true
	if got := e.send(t, question(asked)); got.Status != 500 || !got.Close || strings.Contains(got.Body, "allowed") {
		t.Errorf("%+v", got)
	}
	s.breaks = false
	if got := e.send(t, question(asked)); got.Status != 200 || s.decided != 1 {
		t.Errorf("then %+v", got)
	}
}

// FuzzARememberedAnswerIsAFreshOne guarantees that an edge which remembers answers what one
// does that remembers nothing, whatever is asked and whatever changes in between.
func FuzzARememberedAnswerIsAFreshOne(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		remembers, one := answering(t, 16)
		forgets, two := answering(t, -1)
		two.now = one.now
		a, b := remembers.dial(t), forgets.dial(t)
		for range 300 {
			for _, change := range changes(r) {
				change(one)
				change(two)
			}
			raw := anyQuestion(r)
			got, want := a.send(t, raw), b.send(t, raw)
			for _, h := range []string{"Date", "X-Request-Id", "X-Decision-Id"} {
				got.Header.Del(h)
				want.Header.Del(h)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q:\n%v\nwithout a memory:\n%v", raw, got, want)
			}
			if got.Close {
				a, b = remembers.dial(t), forgets.dial(t)
			}
		}
		if two.decided < one.decided || one.decided == 0 {
			t.Errorf("%d decisions, without a memory %d", one.decided, two.decided)
		}
	})
}

// at brings the facts of a revision, which are the same whenever it is looked at.
func (s *state) at(revision int64) { s.revision, s.allowed = revision, revision%3 > 0 }

// changes are what happens before a question: mostly nothing.
func changes(r *rand.Rand) []func(*state) {
	value := r.IntN(3)
	caller := []string{"service-a", "service-b", "user-a", "user-b", ""}[r.IntN(5)]
	all := []func(*state){
		func(s *state) { s.at(int64(value)) }, // the epoch of a replica that is behind, too
		func(s *state) { s.policy = fmt.Sprint("rev-", value) },
		func(s *state) { s.caller = caller },
		func(s *state) { s.home = int64(value) },
		func(s *state) { s.at(s.revision + 10) },
		func(s *state) { s.until = time.Duration(value) * time.Minute },
		func(s *state) { s.now = s.now.Add(time.Duration(value-1) * time.Minute) },
		func(s *state) { s.waits = value == 0 },
	}
	if n := r.IntN(13); n < len(all) {
		return all[n : n+1]
	}
	return nil
}

// anyQuestion is one of few, so that many are repeated, or one that is almost it.
func anyQuestion(r *rand.Rand) string {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	raw := question(pick(asked, "accounts/acct-a-v1", "accounts/acct-a-v1/projects/proj-q-v1/instances/i-1"))
	raw = strings.Replace(raw, "user-bob-v1", pick("user-bob-v1", "user-bob-v1", "user-eve-v1", ""), 1)
	raw = strings.Replace(raw, "project:instance:read", pick("project:instance:read", "project:instance:read", "project:instance:delete", "x"), 1)
	raw = strings.Replace(raw, goodToken, pick(goodToken, goodToken, goodToken+"x"), 1)
	if r.IntN(4) == 0 {
		raw = strings.Replace(raw, "\r\n\r\n", "\r\n"+pick(
			"X-Request-ID: r-1", "X-Consistency: strict", "X-Consistency: ", "X_Consistency: strict", "X-User-ID: user-eve-v1", "X_Action: a:b:c", "X-API-Key: k", "Content-Length: 0",
			"Content-Length: 2", "Content-Encoding: gzip", "Accept: a", "Transfer-Encoding: chunked", "Idempotency-Key: k", "Connection: close", "X-Account-ID: acct-a-v1",
		)+"\r\n\r\n", 1)
	}
	switch {
	case strings.Contains(raw, "Content-Length: 2"):
		raw += "{}"
	case strings.Contains(raw, "chunked"):
		raw += "0\r\n\r\n"
	}
	return raw
}
