package shadow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/shadow"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// lines is a log that may be read while it is written.
type lines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

// await waits until the log has the text.
func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(time.Minute)
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.wrote:
		case <-limit:
			t.Fatalf("the log does not say %q:\n%s", text, l)
		}
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// beside is a shadow with what it tells.
type beside struct {
	*shadow.Shadow
	outcomes chan string
	log      *lines
}

func newBeside(dir string, sample float64) beside {
	b := beside{outcomes: make(chan string, 10_000), log: &lines{wrote: make(chan struct{}, 1)}}
	b.Shadow = shadow.New(shadow.Options{
		Dir: dir, Sample: sample, Read: policies.Read, Load: proof.Load, Observe: func(o string) { b.outcomes <- o }, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	})
	return b
}

// run runs it until the test ends.
func run(t *testing.T, follow func(context.Context)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		follow(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// outcome is that of a question.
func (b beside) outcome(id, action string, live bool) string {
	q := policytest.Question(policytest.AdminSubject(), action)
	b.Offer(id, false, &q, resources.Decision{Allowed: live, Reason: "live"})
	return <-b.outcomes
}

// folder has a tree that passes the gate, with another rule for some actions.
func folder(t *testing.T, rules string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	tree := policytest.Small(t)
	const schema = "schemas/actions/schema.json"
	tree[schema] = policytest.Copy(t, policies.Tree())[schema]
	tree.With("actions/data.json", `{"strict": false, "known": {"project:volcano:erupt": {"description": "Erupts."}}}`).
		With("authz/other.rego", "package authz\n\n"+rules+"\n").
		With("authz/authz.rego", strings.Replace(policytest.SmallAuthz, `input.subject.status == "ACTIVE"`, `input.subject.status == "ACTIVE"`+"\n\tnot other", 1)).Write(t, dir)
	return dir
}

const (
	loops = `other if {
	input.action.id == "project:volcano:erupt"
	some i in numbers.range(1, 2000)
	some j in numbers.range(1, 2000)
	i * j < 0
}`
	eats = `other if {
	input.action.id == "project:volcano:erupt"
	count(numbers.range(1, 100000000)) < 0
}`
	denies = `other if input.action.id == "project:volcano:erupt"`
)

// TestACandidateIsHeldAgainstTheTreeInForce: each outcome is counted, and flips by action with examples.
func TestACandidateIsHeldAgainstTheTreeInForce(t *testing.T) {
	for name, c := range map[string]struct {
		rules, outcome string
		live           bool
		fails          string
	}{
		"the same":             {"other if false", shadow.Same, true, ""},
		"denies":               {denies, shadow.NewDeny, true, ""},
		"allows":               {"other if false", shadow.NewAllow, false, ""},
		"loops":                {loops, shadow.Late, true, ""},
		"takes memory":         {eats, shadow.Error, true, "memory"},
		"a conflict of values": {denies + "\n\nother := 5 if input.action.verb == \"erupt\"", shadow.Error, true, "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBeside(folder(t, c.rules), 1)
			run(t, b.Run)
			b.log.await(t, "a candidate policy judges beside")
			if got := b.outcome("01LIVE", "project:volcano:erupt", c.live); got != c.outcome {
				t.Fatalf("%s, want %s", got, c.outcome)
			}
			if got := b.outcome("01OTHER", "project:instance:read", true); got != shadow.Same && got != c.outcome {
				t.Errorf("%s of what it does not judge otherwise", got)
			}
			status := b.Status()
			flips := c.outcome == shadow.NewAllow || c.outcome == shadow.NewDeny
			if status.Revision == "" || status.Outcomes[c.outcome] == 0 || (len(status.Flips) == 1) != flips || !strings.Contains(status.LastError, c.fails) {
				t.Errorf("%+v", status)
			}
			if flips && (status.Flips[0].Action != "project:volcano:erupt" || status.Flips[0].Examples[c.outcome][0] != "01LIVE" ||
				!strings.Contains(b.log.String(), "decision_id=01LIVE")) {
				t.Errorf("%+v\n%s", status.Flips, b.log)
			}
		})
	}
}

// broken is a candidate that answers with this function.
type broken func() (resources.Decision, error)

func (b broken) Decide(context.Context, resources.Question) (resources.Decision, error) { return b() }

func (b broken) Access(context.Context, resources.Question) (resources.Decision, error) { return b() }

func (broken) Revision() string { return "broken" }

func (broken) Routes() []resources.Route { return nil }

// TestACandidateThatPanicsIsAnError, and the next question is judged.
func TestACandidateThatPanicsIsAnError(t *testing.T) {
	b, calls := newBeside("", 1), 0
	b.MakeReady()
	run(t, func(ctx context.Context) {
		b.RunWith(ctx, broken(func() (resources.Decision, error) {
			if calls++; calls == 1 {
				panic("a bug")
			}
			return resources.Decision{Allowed: true}, nil
		}))
	})
	if got := b.outcome("", "project:instance:read", true); got != shadow.Error || !strings.Contains(b.Status().LastError, "panic: a bug") {
		t.Errorf("%s, %+v", got, b.Status())
	}
	if got := b.outcome("", "project:instance:read", true); got != shadow.Same {
		t.Errorf("%s of the next question", got)
	}
}

// TestOfferNeverWaits: what the queue can't hold is dropped and counted.
func TestOfferNeverWaits(t *testing.T) {
	b := newBeside("", 1)
	b.MakeReady()
	q := policytest.Question(policytest.AdminSubject(), "project:instance:read")
	for range shadow.Queued + 7 {
		b.Offer("", false, &q, resources.Decision{})
	}
	if got := b.Status().Outcomes[shadow.Dropped]; got != 7 {
		t.Errorf("%d dropped, want 7", got)
	}
}

// TestOfferKeepsNothingOfTheRequest: its strings are overwritten when it is answered.
func TestOfferKeepsNothingOfTheRequest(t *testing.T) {
	b, asked := newBeside("", 1), make(chan resources.Question, 1)
	b.MakeReady()
	rest := []byte("instances/i-1")
	q := policytest.Question(policytest.AdminSubject(), "project:instance:read")
	q.Target.Rest = lent(rest)
	q.Principal.Scopes = []string{lent(rest)}
	b.Offer("", false, &q, resources.Decision{})
	copy(rest, "overwritten!!")
	run(t, func(ctx context.Context) { b.RunWith(ctx, seen(asked)) })
	if got := <-asked; got.Target.Rest != "instances/i-1" || got.Principal.Scopes[0] != "instances/i-1" {
		t.Errorf("judged %+v", got)
	}
}

// TestOfferKeepsNothingOfTheReason, which can be a part of the question.
func TestOfferKeepsNothingOfTheReason(t *testing.T) {
	b, reason := newBeside("", 1), []byte("instances/i-1")
	b.MakeReady()
	q := policytest.Question(policytest.AdminSubject(), "project:instance:read")
	b.Offer("", false, &q, resources.Decision{Reason: lent(reason)})
	copy(reason, "overwritten!!")
	run(t, func(ctx context.Context) {
		b.RunWith(ctx, broken(func() (resources.Decision, error) { return resources.Decision{Allowed: true}, nil }))
	})
	if <-b.outcomes != shadow.NewAllow || !strings.Contains(b.log.String(), "reason=instances/i-1") {
		t.Errorf("%s", b.log)
	}
}

type seen chan resources.Question

func (s seen) Decide(_ context.Context, q resources.Question) (resources.Decision, error) {
	s <- q
	return resources.Decision{}, nil
}

func (s seen) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{}, errors.New("asked at the wrong entry point")
}

func (seen) Revision() string { return "seen" }

func (seen) Routes() []resources.Route { return nil }

// TestASampleIsJudged: no question with a share of 0, some with one of a half.
func TestASampleIsJudged(t *testing.T) {
	q := policytest.Question(policytest.AdminSubject(), "project:instance:read")
	for sample, most := range map[float64]int64{0: 0, 0.5: 1000 - shadow.Queued/4} {
		b := newBeside("", sample)
		b.MakeReady()
		for range shadow.Queued + 1000 {
			b.Offer("", false, &q, resources.Decision{})
		}
		if got := b.Status().Outcomes[shadow.Dropped]; got > most {
			t.Errorf("%v: %d dropped", sample, got)
		}
	}
}

// TestFlipsAreBounded: a caller who makes up actions fills neither memory nor the log.
func TestFlipsAreBounded(t *testing.T) {
	b := newBeside("", 1)
	b.MakeReady()
	run(t, func(ctx context.Context) {
		b.RunWith(ctx, broken(func() (resources.Decision, error) { return resources.Decision{Allowed: true}, nil }))
	})
	for i := range shadow.MaxActions + 50 {
		b.outcome(fmt.Sprint(i), fmt.Sprintf("project:x%d:read", i), false)
	}
	if status := b.Status(); len(status.Flips) != shadow.MaxActions+1 {
		t.Errorf("%d actions", len(status.Flips))
	}
	for range 10 {
		b.outcome("more", "project:x1:read", false)
	}
	if n := strings.Count(b.log.String(), "action=project:x1:read"); n != shadow.MaxExamples {
		t.Errorf("%d lines of one action", n)
	}
}

// TestACandidateThatDoesNotPassTheGateIsRefused, and is the candidate once it is mended; a later change is taken over.
func TestACandidateThatDoesNotPassTheGateIsRefused(t *testing.T) {
	dir := folder(t, "other := input.acton")
	b := newBeside(dir, 1)
	run(t, b.Run)
	b.log.await(t, "refused")
	if status := b.Status(); status.Revision != "" || !strings.Contains(status.Refused, "acton") || !strings.Contains(b.log.String(), "refused") {
		t.Errorf("%+v", status)
	}
	put := func(rules string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, "authz", "other.rego"), []byte("package authz\n\n"+rules+"\n"), 0o600))
	}
	put("other if false")
	b.log.await(t, "a candidate policy judges beside")
	if got := b.outcome("", "project:volcano:erupt", true); got != shadow.Same {
		t.Errorf("%s once it is mended", got)
	}
	put(denies)
	b.log.await(t, "was reloaded")
	if got := b.outcome("", "project:volcano:erupt", true); got != shadow.NewDeny || b.Status().Refused != "" {
		t.Errorf("%s after a change: %+v", got, b.Status())
	}
}

// TestACandidateThatIsThereAgainIsNotRefused guarantees that a reverted bad edit is not reported.
func TestACandidateThatIsThereAgainIsNotRefused(t *testing.T) {
	dir := folder(t, "other if false")
	b := newBeside(dir, 1)
	candidate := b.Await(t.Context())
	if candidate.Reload(t.Context(), policytest.Small(t).With("authz/x.rego", "x")) == nil || b.Status().Refused == "" {
		t.Fatalf("a broken tree was taken: %+v", b.Status())
	}
	if err := candidate.Reload(t.Context(), policies.Dir(dir)); err != nil || b.Status().Refused != "" {
		t.Errorf("%v: %+v", err, b.Status())
	}
}
