package engine_test

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
)

const today resources.Time = 1_767_225_600_000

// whatRuns gives back of each assignment at account level whether it runs.
const whatRuns = `decision := {"allow": false, "reason": json.marshal([a.running | some a in input.subject.assignments[""][""]])} if input.subject.id`

// ending is a subject whose assignments end then.
func ending(ends ...resources.Time) *resources.Subject {
	s := policytest.ActiveSubject()
	for _, end := range ends {
		held := policytest.AdminSubject().Assignments[0]
		held.ExpiresAt = end
		s.Assignments = append(s.Assignments, held)
	}
	return s
}

// wantRunning asks which of the subject's assignments run at a time.
func wantRunning(t *testing.T, e *engine.Engine, s *resources.Subject, now resources.Time) {
	t.Helper()
	q := policytest.Question(s, "account:user:read")
	q.Now = now
	var runs, want []bool
	for i := range s.Assignments {
		end := cmp.Or(s.Assignments[i].ExpiresAt, never)
		want = append(want, now < end)
	}
	d, err := e.Decide(t.Context(), q)
	if err != nil || json.Unmarshal([]byte(d.Reason), &runs) != nil || !slices.Equal(runs, want) {
		t.Errorf("at %d: %+v, %v, want %v", now, d, err, want)
	}
}

// TestAnAssignmentRunsUntilItsEnd guarantees that the input says for each assignment, to the millisecond, whether it
// runs. Earlier questions about the same subject at other times don't change it.
func TestAnAssignmentRunsUntilItsEnd(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, whatRuns), engine.Options{Verdicts: -1})
	ends := []resources.Time{today + 1000, 0, math.MinInt64, -1, today, today + 1, 5, today, never, math.MaxInt64}
	times := []resources.Time{math.MinInt64, 0, math.MaxInt64}
	for _, end := range ends {
		times = append(times, end-1, end, end+1)
	}
	s := ending(ends...)
	for _, before := range times {
		for _, now := range times {
			wantRunning(t, e, s, before)
			wantRunning(t, e, s, now)
		}
	}
}

// TestNothingElseOfASubjectChangesWithTheTime guarantees that the input after an end differs from the input before
// only in what runs.
func TestNothingElseOfASubjectChangesWithTheTime(t *testing.T) {
	s := policytest.AdminSubject()
	s.Assignments = append(s.Assignments, resources.HeldRole{
		RoleID: "role-a-v1", RoleScope: "PROJECT", RoleStatus: "ACTIVE", Custom: true, Permissions: []string{"project:a:b"},
		ProjectID: "proj-demo-v1", Status: "ACTIVE", ExpiresAt: today + 1000,
	})
	q := policytest.Question(s, "project:a:b")
	asked := func(now resources.Time) object {
		q.Now = now
		return seen(t, q)["subject"].(object)
	}
	before, after := asked(today), asked(today+1000)
	for _, ended := range []any{
		after["assignments"].(object)["proj-demo-v1"].(object)[""].([]any)[0], after["here"].([]any)[0],
	} {
		if ended.(object)["running"] != false {
			t.Error("it runs after its end")
		}
		ended.(object)["running"] = true
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("got  %v\nwant %v", after, before)
	}
}

// TestManyAskAtDifferentTimes guarantees that concurrent questions each get what runs at their own time.
func TestManyAskAtDifferentTimes(t *testing.T) {
	e := newEngine(t, policytest.Decision(t, whatRuns), engine.Options{Verdicts: -1})
	s := ending(today, 0, today+100, today+200, today+300)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 400 {
				wantRunning(t, e, s, today-50+resources.Time((j*(i+1))%400))
			}
		})
	}
	wg.Wait()
}

// TestAVerdictOnWhatRunsEndsWithIt guarantees that a cached verdict expires with the assignment it depends on, for
// each way to ask in Rego whether it runs. The answer states the same end.
func TestAVerdictOnWhatRunsEndsWithIt(t *testing.T) {
	trees := map[string]policytest.Tree{"the embedded tree": policytest.Copy(t, policies.Tree())}
	for name, condition := range map[string]string{
		"a value":            lasting + `a.running`,
		"through a function": lasting + `counts(a)`,
		"by a name":          lasting + `a[input.route.name]`,
		"all of the subject": `walk(input.subject, [path, true]); path[count(path) - 1] == "running"`,
	} {
		trees[name] = policytest.Decision(t, `decision := {"allow": true, "reason": "yes"} if { input.subject.exists; `+condition+` }

else := {"allow": false, "reason": "no"}

counts(a) if a.running`)
	}
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			e := newCounted(t, tree, 0)
			const end = today + 1000
			q := policytest.Question(ending(end), "account:user:read")
			q.Route.Name = "running"
			for _, c := range []struct {
				now  resources.Time
				want bool
			}{{end - 1, true}, {end - 1000, true}, {end, false}, {end + 1000, false}, {end - 1, true}} {
				q.Now = c.now
				if d, err := e.Decide(t.Context(), q); err != nil || d.Allowed != c.want {
					t.Errorf("%d ms after the end: %+v, %v", c.now-end, d, err)
				}
			}
			if e.evaluated != 2 || e.hits != 3 {
				t.Errorf("%d evaluated, %d hits", e.evaluated, e.hits)
			}
		})
	}
}
