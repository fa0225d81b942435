package shadow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/shadow"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestACallIsAskedByTheCandidatesRow guarantees that a candidate judges a call by its own row, as its gateway would, and not
// by the row in force. A call is an error if the candidate has no row of that name, or one for an action of another scope.
func TestACallIsAskedByTheCandidatesRow(t *testing.T) {
	const check = "account:authorization:check"
	dir := folder(t, `other if input.action.id == "account:volcano:read"`)
	routes := strings.Replace(policytest.SmallRoutes, check, "account:volcano:read", 1)
	must.Do(t, os.WriteFile(filepath.Join(dir, "routes", "data.json"), []byte(routes), 0o600))
	b := newBeside(dir, 1)
	run(t, b.Run)
	b.log.await(t, "a candidate policy judges beside")
	live := policytest.Question(policytest.AdminSubject(), check)
	for name, c := range map[string]struct {
		route, want, says string
	}{
		"its row":          {"authorization.check", shadow.NewDeny, ""},
		"a proxy names it": {resources.RouteNamed, shadow.Same, ""},
		"no row":           {"gone", shadow.Error, "no route gone"},
	} {
		q := live
		q.Route = &resources.Route{Name: c.route, Action: check}
		b.Offer("01LIVE", true, &q, resources.Decision{Allowed: true})
		if got := <-b.outcomes; got != c.want || !strings.Contains(b.Status().LastError, c.says) {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, b.Status())
		}
	}
	q := policytest.Question(policytest.AdminSubject(), "project:volcano:erupt")
	q.Route = &resources.Route{Name: "authorization.check", Action: q.Action.ID}
	b.Offer("01LIVE", true, &q, resources.Decision{Allowed: true})
	if got := <-b.outcomes; got != shadow.Error || !strings.Contains(b.Status().LastError, "another scope") {
		t.Errorf("another scope: %s: %+v", got, b.Status())
	}
}
