package faults_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// Rules that fail for volcanoes alone.
const (
	endlessRule = `package authz

# METADATA
# title: Volcanoes take all the time there is
deny contains "never" if {
	input.action.resource == "volcano"
	many := numbers.range(1, 1000)
	count([1 | some i in many; some j in many; some k in many; i + j + k == 0]) > 0
}
`
	greedyRule = `package authz

# METADATA
# title: Volcanoes take all the memory there is
deny contains "never" if {
	input.action.resource == "volcano"
	blank := sprintf("%100000d", [1])
	count(replace(blank, " ", blank)) > 0
}
`
	panicRule = `package authz

# METADATA
# title: A built-in panics
deny contains "never" if {
	input.action.resource == "volcano"
	rand.intn("no positive number", -9223372036854775808) == 0
}
`
)

// policyFails: what asks the rule is a 503 and counted, all else is decided, and the tree of
// before is in force again when the rule is taken out.
func policyFails(rule, kind, reason string) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		policies := harness.CopyPolicies(t)
		s := harness.NewScene(t, harness.Start(t, "--policy-dir", policies, "--policy-timeout", "100ms").Each()[0]) // of replicas, one: each reloads by itself
		ask := func(resource string) harness.Reply {
			return must.Get(harness.TryCall("POST", s.URL+"/api/v1/authorize/projects/"+s.Project+"/x", s.Checker, "",
				"X-User-ID", s.Admin, "X-Account-ID", s.Account, "X-Action", "project:"+resource+":read"))(t)
		}
		path := filepath.Join(policies, "authz", "volcano.rego")
		harness.WriteFile(t, path, rule)
		failures := `portcullis_policy_failures_total{entry="decision",kind="` + kind + `"}`
		harness.SoonWithin(t, reloadWithin, "the rule is in force", func() bool { // a 503 may be of a busy machine
			return ask("volcano").Status == 503 && strings.Contains(string(harness.Call(t, "GET", s.HealthURL+"/metrics", "", "").Raw), failures)
		})
		for range 10 {
			started := time.Now()
			r := ask("volcano")
			if took := time.Since(started); took > 5*time.Second { // it has 100 ms, and would go on for long
				t.Errorf("it took %s", took)
			}
			if r.Status != 503 || string(r.Raw) != `{"allowed":false,"reason":"`+reason+`"}` || r.Header.Get("Retry-After") == "" {
				t.Errorf("%d %s %v", r.Status, r.Raw, r.Header)
			}
			if !s.Allowed(t, s.Admin, "project:hill:read", "/projects/"+s.Project+"/x") {
				t.Error("what does not ask the rule is denied")
			}
		}
		if n := failuresOf(t, s.Gateway); n < 10 { // on a busy machine some are out of time
			t.Errorf("%v failures", n)
		}
		must.Do(t, os.Remove(path))
		harness.SoonWithin(t, reloadWithin, "volcanoes are decided again", func() bool { return ask("volcano").Body["allowed"] == true })
	}
}

var failuresLine = regexp.MustCompile(`(?m)^portcullis_policy_failures_total\{entry="decision",.*\} (\S+)$`)

// failuresOf is the number of failed decisions of any kind.
func failuresOf(t *testing.T, g *harness.Gateway) (sum float64) {
	t.Helper()
	for _, names := range failuresLine.FindAllStringSubmatch(harness.MetricsOf(t, g), -1) {
		n := must.Get(strconv.ParseFloat(names[1], 64))(t)
		sum += n
	}
	return sum
}
