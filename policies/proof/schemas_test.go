package proof_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// TestASchemaThatDoesNotEndIsRefused guarantees that Load rejects a schema with circular, doubling or foreign
// references. OPA would follow them until the stack overflows or the memory ends.
func TestASchemaThatDoesNotEndIsRefused(t *testing.T) {
	small := policytest.Small(t)
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	for name, c := range map[string]struct{ schema, want string }{
		"itself":             {`{"allOf": [{"$ref": "#"}]}`, "go round in a circle"},
		"a member of itself": {`{"properties": {"action": {"$ref": "#"}}}`, "go round in a circle"},
		"two of each other":  {`{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}`, "go round in a circle"},
		"an item":            {`{"items": [{"$ref": "#/items/0"}]}`, "go round in a circle"},
		"an escaped name":    {`{"definitions": {"a/b": {"$ref": "#/definitions/a~1b"}}}`, "go round in a circle"},
		"doubling":           {`{"definitions": {` + doubling.String() + `"d40": {}}, "$ref": "#/definitions/d0"}`, "too many"},
		"elsewhere":          {`{"$ref": "http://127.0.0.1/schema"}`, "which is not in it"},
		"nowhere":            {`{"$ref": "#/definitions/none"}`, "which is not in it"},
		"another name":       {`{"definitions": {"a": {"$id": "x", "allOf": [{"$ref": "#"}]}}}`, "has an $id"},
	} {
		t.Run(name, func(t *testing.T) {
			for name, tree := range map[string]policytest.Tree{
				"of the input": small.With("schemas/input/schema.json", c.schema),
				"of the data":  small.With("schemas/grants/schema.json", c.schema),
				"in a rule":    small.With("authz/more.rego", "package authz\n\n# METADATA\n# schemas:\n#   - input: "+c.schema+"\nx if input.now == 1\n"),
			} {
				_, err := load(t, tree)
				var problems proof.Problems
				if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	}
}
