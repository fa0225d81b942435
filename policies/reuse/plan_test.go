package reuse_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/reuse"
)

// TestTheKeyKnowsEveryInput guarantees that no part of the input can be read past the key.
func TestTheKeyKnowsEveryInput(t *testing.T) {
	type node struct{ Properties map[string]node }
	var schema node
	text, err := fs.ReadFile(policies.Tree(), "schemas/input/schema.json")
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	known := reuse.InputPaths()
	var check func(path string, n node)
	check = func(path string, n node) {
		if known[path] || path == "now" { // which no cached verdict has read
			return
		}
		if len(n.Properties) == 0 {
			t.Errorf("%s has no part in the key", path)
		}
		for name, below := range n.Properties {
			check(strings.TrimPrefix(path+"."+name, "."), below)
		}
	}
	check("", schema)
}
