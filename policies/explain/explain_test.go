package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/explain"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func open(t testing.TB, tree fs.FS) *engine.Pinned {
	t.Helper()
	e, err := engine.New(t.Context(), tree, proof.Load, engine.Options{Deadline: time.Minute}) // a busy machine is slow
	if err != nil {
		t.Fatal(err)
	}
	return e.Pin()
}

// ownRules are deny rules and a condition of an author, for what the embedded tree has none of.
const ownRules = `package authz

deny contains "attaching needs a second role" if {
	input.action.id == "resource:volume:attach"
	not _reader_too
}

deny contains sprintf("%s is not read with a key", [input.target.resource]) if {
	input.action.id == "project:volume:read"
	input.principal.credential == "key"
	input.target.resource != ""
}

_reader_too if {
	some held in input.subject.here
	held.role == "account_reader"
	held.status == "ACTIVE"
	held.running
}
`

func ownTree(t testing.TB) fs.FS {
	return policytest.Copy(t, policies.Tree()).With("authz/own.rego", ownRules).With("actions/data.json",
		`{"known": {"resource:volume:attach": {"description": "Attaches."}, "project:volume:read": {"description": "Reads."}}}`)
}

// questions is how many questions each tree is asked: make explanations asks many more.
func questions(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("PORTCULLIS_TEST_QUESTIONS"))
	if err != nil {
		return 100
	}
	return n
}

// TestExplanationsHold on random worlds: the verdict and the reason are those of the decision, a fix has the question
// allowed, and without any of its steps it is denied; the users' form names nothing that the user could not list.
func TestExplanationsHold(t *testing.T) {
	for name, tree := range map[string]fs.FS{"embedded": policies.Tree(), "own rules": ownTree(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := open(t, tree)
			var denied, fixed, steps, incomplete int
			for seed := range questions(t) {
				rng := rand.New(rand.NewPCG(uint64(seed), 18))
				w := newWorld(rng)
				q := w.question()
				x, err := explain.Explain(t.Context(), policy, q, w)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				sameVerdict(t, seed, policy, q, x)
				tellsNoMore(t, seed, policy, w, q, x)
				if !x.Complete {
					incomplete++
				}
				if !x.Allowed {
					denied++
				}
				if len(x.Fixes) > 0 {
					fixed++
				}
				for _, fix := range x.Fixes {
					steps += len(fix.Steps)
					isNeeded(t, seed, policy, w, q, fix)
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			t.Logf("%d questions, %d denied, %d with fixes of %d steps in all, %d not complete", questions(t), denied, fixed, steps, incomplete)
			if denied == 0 || fixed < denied/4 {
				t.Errorf("the worlds show too little: %d denied, %d fixed", denied, fixed)
			}
		})
	}
}

func sameVerdict(t *testing.T, seed int, policy *engine.Pinned, q resources.Question, x resources.Explanation) {
	t.Helper()
	d, err := policy.Decide(t.Context(), q)
	if err != nil || d.Allowed != x.Allowed || d.Reason != x.Reason || d.Code != x.Code || d.PolicyRevision != x.PolicyRevision {
		t.Errorf("seed %d: the decision is %+v (%v), the explanation %+v", seed, d, err, x)
	}
	if x.Allowed && len(x.Fixes)+len(x.BlockedBy) > 0 {
		t.Errorf("seed %d: what is allowed is fixed: %+v", seed, x)
	}
	counts := slices.ContainsFunc(x.Grants, func(g resources.ExplainedGrant) bool { return g.Counts })
	if x.Allowed && !counts {
		t.Errorf("seed %d: allowed, and no assignment counts: %+v", seed, x.Grants)
	}
	for _, c := range x.Conditions {
		if c.Holds != (c.Says == "") {
			t.Errorf("seed %d: %+v", seed, c)
		}
	}
	for _, g := range x.Grants {
		if g.Counts == (g.WhyNot != "") || g.WhyNot == "no rule of the policy tree counts it here" {
			t.Errorf("seed %d: %+v", seed, g)
		}
	}
}

func isNeeded(t *testing.T, seed int, policy *engine.Pinned, w *world, q resources.Question, fix resources.Fix) {
	t.Helper()
	allowed := func(steps []resources.Step) bool {
		d := must.Get(policy.Decide(t.Context(), w.after(q, steps)))(t)
		return d.Allowed
	}
	if len(fix.Steps) == 0 || len(fix.Steps) > 3 || !allowed(fix.Steps) {
		t.Errorf("seed %d: no fix: %+v", seed, fix)
	}
	for i := range fix.Steps {
		if allowed(slices.Delete(slices.Clone(fix.Steps), i, i+1)) {
			t.Errorf("seed %d: step %d of %+v is not needed", seed, i, fix.Steps)
		}
	}
}

// tellsNoMore searches an explanation to the user in question for every name of the world that they could not list.
func tellsNoMore(t *testing.T, seed int, policy *engine.Pinned, w *world, q resources.Question, x resources.Explanation) {
	t.Helper()
	user := q.Facts.Subject.UserID
	if q.Principal.ID != user {
		return
	}
	may := func(action string) bool {
		asked := q
		asked.Action, _ = resources.ParseAction(action)
		asked.Target, asked.Facts.ProjectState = resources.Target{}, ""
		d, err := policy.Decide(context.Background(), asked)
		return err == nil && d.Allowed
	}
	if may("account:authorization:explain") {
		return
	}
	names := map[string]bool{user: true, q.Target.ProjectID: true, q.AccountID: true, q.Target.AccountID: true}
	for _, held := range q.Facts.Subject.Assignments {
		names[held.RoleID], names[held.ProjectID], names[held.GroupID] = true, true, true
	}
	for _, r := range w.roles {
		names[r.ID] = names[r.ID] || may("account:role:read")
	}
	body := must.Get(json.Marshal(x))(t)
	for _, name := range w.names() {
		if !names[name] && strings.Contains(string(body), name) {
			t.Errorf("seed %d: %s is named to %s: %s", seed, name, user, body)
		}
	}
	letIn := slices.ContainsFunc(x.Grants, func(g resources.ExplainedGrant) bool { return g.Counts })
	if denies := strings.Contains(string(body), "not read with a key") || strings.Contains(string(body), "needs a second role"); denies && !letIn {
		t.Errorf("seed %d: a deny rule is told to a user whom no role lets in: %s", seed, body)
	}
	if strings.Contains(string(body), `"at":`) || strings.Contains(string(body), "affects") && !may("account:user:read") {
		t.Errorf("seed %d: too much is told: %s", seed, body)
	}
	if !may("account:project:read") {
		tellsNoProject(t, seed, policy, w, q, x)
	}
}

// names are all that the world has.
func (w *world) names() (out []string) {
	for _, u := range w.users {
		out = append(out, u.ExternalID, u.UUID)
	}
	for _, p := range w.projects {
		out = append(out, p.ID)
	}
	for _, r := range w.roles {
		out = append(out, r.ID)
	}
	for g := range w.groups {
		out = append(out, g)
	}
	return append(out, "acct-other-v1")
}

// tellsNoProject asks the same about a project that does not exist. Without a role in this one and the right to list projects,
// a user gets the same answer.
func tellsNoProject(t *testing.T, seed int, policy *engine.Pinned, w *world, q resources.Question, x resources.Explanation) {
	t.Helper()
	letIn := slices.ContainsFunc(x.Grants, func(g resources.ExplainedGrant) bool { return g.Counts })
	holds := slices.ContainsFunc(q.Facts.Subject.Assignments, func(h resources.HeldRole) bool { return h.ProjectID == q.Target.ProjectID })
	if q.Target.ProjectID == "" || letIn || holds {
		return
	}
	said := fmt.Sprintf("%+v", x)
	for _, state := range []string{resources.ProjectActive, resources.ProjectDeleting, resources.ProjectAbsent} {
		q.Facts.ProjectState = state
		other, err := explain.Explain(context.Background(), policy, q, w)
		if got := fmt.Sprintf("%+v", other); err != nil || got != said {
			t.Errorf("seed %d: the project is %s: %v\n%s\n%s", seed, state, err, said, got)
		}
	}
}
