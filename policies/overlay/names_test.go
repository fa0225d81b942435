package overlay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// TestBaseHasNoOwnNames holds the base to leaving names that begin with own_ to overlays, and each text of a reason on a line.
func TestBaseHasNoOwnNames(t *testing.T) {
	for name, file := range base(t) {
		if strings.Contains(strings.ReplaceAll(string(file.Data), "known_", ""), "own_") && !strings.HasSuffix(name, "_test.rego") {
			t.Errorf("%s has a name that begins with own_", name)
		}
	}
	var rows map[string]json.RawMessage
	must.Do(t, json.Unmarshal(base(t)["routes/data.json"].Data, &rows))
	for name := range rows {
		if strings.HasPrefix(name, "own.") {
			t.Errorf("the row %s", name)
		}
	}
}
