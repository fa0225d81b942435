package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestRulesKeepTheirValues guarantees that each rule keeps its own value in an evaluation of many rules and calls,
// under `with`, and in later or concurrent evaluations.
func TestRulesKeepTheirValues(t *testing.T) {
	var rules, sum strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rules, "r%02d := %d if input.now > 0\n\n", i, i)
		fmt.Fprintf(&sum, "r%02d, ", i)
	}
	tree := policytest.Decision(t, rules.String()+`u if input.now < 0

shifted(n) := n + input.now

id := input.account.id

decision := {"allow": false, "reason": sprintf("%d %d %s %s %s", [total, calls, id, other, again])} if {
	not u
	total := sum([`+sum.String()+`])
	calls := sum([shifted(n) | some n in numbers.range(1, 50)]) - (50 * input.now)
	other := id with input.account.id as "other"
	again := id
	not u
} else := {"allow": false, "reason": "nobody"}`)
	e := newEngine(t, tree, engine.Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				q := policytest.Question(policytest.ActiveSubject(), "account:user:read")
				q.Facts.Subject.AccountID = "acct-" + itoa(i)
				q.AccountID = q.Facts.Subject.AccountID
				want := "1770 1275 " + q.AccountID + " other " + q.AccountID
				if d, err := e.Decide(t.Context(), q); err != nil || d.Reason != want {
					t.Errorf("got %q, %v, want %q", d.Reason, err, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestDataIsAsTheTreeHasIt guarantees that a policy reads data whole and in part. A missing value is undefined.
func TestDataIsAsTheTreeHasIt(t *testing.T) {
	const name = `object.get(data.more, "n", 0)`
	e := newEngine(t, policytest.Decision(t, `decision := {"allow": false, "reason": sprintf("%v %v %v %v", [
	object.keys(data.more), `+name+`, data.more.deep[input.principal.kind], count([1 | data.more[input.account.id]]),
])} if input.action.id != ""

else := {"allow": false, "reason": ""}`).
		With("more/data.json", `{"n": 12345678901234567890, "deep": {"user": ["x"]}}`), engine.Options{})
	d, err := e.Decide(t.Context(), policytest.Question(policytest.ActiveSubject(), "account:user:read"))
	if want := `{"deep", "n"} 12345678901234567890 ["x"] 0`; err != nil || d.Reason != want {
		t.Errorf("got %q, %v", d.Reason, err)
	}
}
