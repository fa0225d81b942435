package engine_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestShippedRoutesAreNamed guarantees that each row says in its name what it is, and has the
// specification's code beside it. The doors for other protocols are not in the specification.
func TestShippedRoutesAreNamed(t *testing.T) {
	named, coded := regexp.MustCompile(`\A[a-z_]{3,}\.[a-z_]{3,}\z`), regexp.MustCompile(`\A[EN][1-9][0-9]?\z`)
	for _, r := range newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{}).Routes() {
		door := r.Upstream == "authorize" && r.Spec == ""
		if !named.MatchString(r.Name) || !door && !coded.MatchString(r.Spec) {
			t.Errorf("route %q has the code %q", r.Name, r.Spec)
		}
	}
}

// TestChangedCodeIsAnotherCatalogue guarantees that a reload checks the catalogue if only a code has changed.
func TestChangedCodeIsAnotherCatalogue(t *testing.T) {
	asked := 0
	e := newEngine(t, policytest.Small(t), engine.Options{CheckRoutes: func([]route) error { asked++; return nil }})
	must.Do(t, e.Reload(t.Context(), policytest.Small(t).With("routes/data.json", strings.Replace(policytest.SmallRoutes, `"method"`, `"spec": "E3", "method"`, 1))))
	if got := e.Routes(); asked != 1 || len(got) != 1 || got[0].Spec != "E3" {
		t.Errorf("asked %d times, in force %v", asked, got)
	}
}
