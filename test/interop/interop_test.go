package interop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// scenario is a gateway whose policy tree has the apps of the scenarios.
func scenario(t *testing.T) *harness.Scene {
	t.Helper()
	tree := harness.CopyWholePolicies(t)
	must.Do(t, os.CopyFS(filepath.Join(tree, "apps"), os.DirFS("policies/apps")))
	return harness.NewScene(t, harness.Start(t, "--policy-dir", tree))
}

// exchange is a request with what is expected of its answer.
type exchange struct {
	Request, Expected json.RawMessage
}

// read reads a file of exchanges, by their kind.
func read(t *testing.T, file string) (kinds map[string][]exchange) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err == nil {
		err = json.Unmarshal(text, &kinds)
	}
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// parsed reads JSON into values.
func parsed[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// TestDecisionsOfTheToDoList guarantees the answers of all versions of the scenario, one at a time and in batches.
func TestDecisionsOfTheToDoList(t *testing.T) {
	s := scenario(t)
	type decision struct{ Decision bool }
	for file, many := range map[string]map[string]int{
		"decisions-authorization-api-1_0-00.json": {"evaluation": 40},
		"decisions-authorization-api-1_0-01.json": {"evaluation": 40},
		"decisions-authorization-api-1_0-02.json": {"evaluation": 40, "evaluations": 3},
	} {
		kinds := read(t, file)
		for kind, number := range many {
			if len(kinds[kind]) != number {
				t.Errorf("%s: %d of %s, want %d", file, len(kinds[kind]), kind, number)
			}
			for i, e := range kinds[kind] {
				r := harness.Call(t, "POST", s.URL+"/access/v1/"+kind, s.Checker, string(e.Request))
				if r.Status != 200 {
					t.Errorf("%s: %s %d: %d %s", file, kind, i, r.Status, r.Raw)
					continue
				}
				if kind == "evaluation" {
					if got, want := parsed[decision](t, r.Raw).Decision, parsed[bool](t, e.Expected); got != want {
						t.Errorf("%s: %s: %v, want %v", file, e.Request, got, want)
					}
					continue
				}
				got := parsed[struct{ Evaluations []decision }](t, r.Raw).Evaluations
				if want := parsed[[]decision](t, e.Expected); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s: %v, want %v", file, e.Request, got, want)
				}
			}
		}
	}
}

// hit is a result of a search.
type hit struct{ Type, ID, Name string }

// results are those of an answer, whose order is the gateway's own.
func results(t *testing.T, text []byte) map[hit]int {
	t.Helper()
	out := map[hit]int{}
	for _, one := range parsed[struct{ Results []hit }](t, text).Results {
		out[one]++
	}
	return out
}

// TestSearchesOfTheRecords guarantees what a search for subjects, resources and actions finds, each once, and that an
// evaluation agrees.
func TestSearchesOfTheRecords(t *testing.T) {
	s := scenario(t)
	for file, c := range map[string]struct {
		kind, path string
		number     int
	}{
		"search-subject.json":      {"evaluation", "subject", 60},
		"search-resource.json":     {"evaluation", "resource", 18},
		"search-action.json":       {"evaluation", "action", 120},
		"idp-search-resource.json": {"search", "resource", 6},
	} {
		exchanges := read(t, file)[c.kind]
		if len(exchanges) != c.number {
			t.Errorf("%s: %d, want %d", file, len(exchanges), c.number)
		}
		for _, e := range exchanges {
			r := harness.Call(t, "POST", s.URL+"/access/v1/search/"+c.path, s.Checker, string(e.Request))
			if r.Status != 200 {
				t.Errorf("%s: %s: %d %s", file, e.Request, r.Status, r.Raw)
				continue
			}
			if got, want := results(t, r.Raw), results(t, e.Expected); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s: %v, want %v", file, e.Request, got, want)
			}
		}
	}
}
