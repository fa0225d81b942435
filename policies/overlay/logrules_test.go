package overlay_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// TestLogRulesOfTheBaseStay guarantees that an overlay adds nothing to a base's rules about the decision log under their names.
func TestLogRulesOfTheBaseStay(t *testing.T) {
	newBase := base(t).With("log/log.rego", "package system.log\n\ndrop if input.path == \"authz/decision\"\n")
	_, err := overlay.Merge(read(t, newBase), read(t, over("log/x.rego", "package system.log\n\ndrop if true\n")))
	if err == nil || !strings.HasPrefix(err.Error(), "log/x.rego:3: drop is a rule of the base (base:log/log.rego)") {
		t.Errorf("%v", err)
	}
	merged(t, base(t), over("log/x.rego", "package system.log\n\ndrop if input.path == \"authz/decision\"\n"))
}
