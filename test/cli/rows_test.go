package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestACatalogueThatLacksRowsIsRefused guarantees that the start names each missing row, and the command to get it.
func TestACatalogueThatLacksRowsIsRefused(t *testing.T) {
	t.Parallel()
	policies, missing := harness.CopyPolicies(t), []string{"decision.list", "role_assignment.list", "action.list"}
	routes := filepath.Join(policies, "routes", "data.json")
	text := must.Get(os.ReadFile(routes))(t)
	var kept []string
	for line := range strings.Lines(string(text)) {
		lacking := false
		for _, name := range missing {
			lacking = lacking || strings.Contains(line, `"`+name+`": {`)
		}
		if !lacking {
			kept = append(kept, line)
		}
	}
	harness.WriteFile(t, routes, strings.Join(kept, ""))
	o := harness.Command(t, nil, harness.Ephemeral(t.TempDir(), "--policy-dir", policies)...)
	harness.WantOneLine(t, o, append(missing, "`portcullis policy base OUT`")...)
	wantExit(t, harness.Command(t, nil, "policy", "check", policies), 2, append(missing, "`portcullis policy base OUT`")...)
	out := filepath.Join(t.TempDir(), "out")
	wantExit(t, harness.Command(t, nil, "policy", "base", out), 0)
	written := string(must.Get(os.ReadFile(filepath.Join(out, "routes", "data.json")))(t))
	for _, name := range missing {
		if !strings.Contains(written, `"`+name+`": {`) {
			t.Errorf("policy base writes no row %s", name)
		}
	}
}
