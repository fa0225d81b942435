package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestACatalogueThatLacksRowsIsRefused guarantees that the start names each missing row and its source.
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
	harness.WantOneLine(t, o, append(missing, "policy init")...)
}
