package overlay_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/overlay"
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

// TestManyWrongNamesAreReported guarantees that a problem has the line of its own member. Merge looks at a document once for all
// its problems: an author may copy the roles of another system.
func TestManyWrongNamesAreReported(t *testing.T) {
	const roles = 900
	var text strings.Builder
	for i := range roles {
		fmt.Fprintf(&text, ",\n\"role_%d\" : {\"name\": \"x\", \"description\": %q}", i, strings.Repeat("x", 1000))
	}
	folder := read(t, over("grants/data.json", `{"own_a": {"name": "x"}, `+"\n"+`"name": {}`+text.String()+"}"))
	newBase := read(t, base(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := overlay.Merge(newBase, folder)
	runtime.ReadMemStats(&after)
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 200 {
		t.Errorf("it made %d MiB", made)
	}
	problems := strings.Split(fmt.Sprint(err), "\n")
	for _, want := range []string{"grants/data.json:2: name: the name of an own role", "grants/data.json:102: role_99: the name of an own role"} {
		if !slices.ContainsFunc(problems, func(problem string) bool { return strings.HasPrefix(problem, want) }) {
			t.Errorf("%q is not among %d problems, %s …", want, len(problems), problems[0])
		}
	}
}
