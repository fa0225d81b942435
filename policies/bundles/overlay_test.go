package bundles_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

func folder(t *testing.T, tree policytest.Tree) *policies.Source {
	t.Helper()
	return must.Get(policies.Read(tree))(t)
}

// TestABundleOfAFolderIsThatFolder guarantees that the bundle of an overlay or of a whole tree opens as the folder's
// tree. It has the same base and passes its own tests.
func TestABundleOfAFolderIsThatFolder(t *testing.T) {
	whole := policytest.Copy(t, policies.Tree())
	for name, tree := range map[string]policytest.Tree{
		"an overlay": policytest.Copy(t, overlay.Start()), "a whole tree": whole, "one that says so": whole.With("policy.json", `{"base": "none"}`),
	} {
		src := folder(t, tree)
		raw, err := bundles.Build(src, "7", nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		opened, err := bundles.Open(raw, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := overlay.Over(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if opened.Base != want.Base || opened.Bundle != "7" || len(opened.Files) != len(want.Files) {
			t.Errorf("%s: base %s, want %s, %d files, want %d", name, opened.Base, want.Base, len(opened.Files), len(want.Files))
		}
		if _, _, err := proof.Prove(context.Background(), opened); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestABundleHasAllDataOfItsFolder guarantees that rules read in a bundle what they read in its folder, also values of the
// root. A second folder authz stays where it is.
func TestABundleHasAllDataOfItsFolder(t *testing.T) {
	tree := policytest.Small(t).With("data.json", `{"limit": 5, "names": ["a"], "table": {"a": null}, "none": null}`).
		With("table/rest/data.json", `{"b": 1}`).
		With("also/authz/authz.rego", "package authz\n\nmore := 1\n").
		With("authz/data_test.rego", `package authz_test

test_data if {
	[data.limit, data.names, data.table, data.none] == [5, ["a"], {"a": null, "rest": {"b": 1}}, null]
	data.authz.more == 1
}
`)
	for way, raw := range map[string][]byte{"policy build": must.Get(bundles.Build(folder(t, tree), "7", nil))(t), "opa build": build(t, tree, "7", nil)} {
		opened, err := bundles.Open(raw, nil)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if _, _, err := proof.Prove(t.Context(), opened); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// TestNoBundleHasAManifestThatItsFolderHasNot guarantees that policy.json alone says what a bundle replaces.
func TestNoBundleHasAManifestThatItsFolderHasNot(t *testing.T) {
	const document = `{"base": "embedded", "without": ["team_member"]}`
	start, whole := policytest.Copy(t, overlay.Start()), policytest.Copy(t, policies.Tree())
	for name, tree := range map[string]policytest.Tree{
		"a document beside it":      start.With("policy/data.json", `{"without": ["team_member"]}`),
		"a member of the root":      start.With("data.json", `{"policy": {"without": ["team_member"]}}`),
		"a document of a whole one": whole.With("policy/data.json", document),
		"a member of a whole one":   whole.With("data.json", `{"policy": `+document+`}`),
		"a file that is not read":   start.With("authz/more.json", `{}`),
	} {
		if _, err := bundles.Build(folder(t, tree), "", nil); err == nil {
			t.Errorf("%s was built", name)
		}
	}
	raw := must.Get(bundles.Build(folder(t, start), "", nil))(t)
	expect(t, archive(t, append(entries(t, raw), entry{name: "/policy.json", text: document})...), nil, "policy build")
}

// TestNoBundleIsBuiltThatNobodyReads guarantees that Build refuses a revision of several words, and a very long
// one. It refuses data above the bound of a file, also in the files of several folders, and data that Open would refuse or
// not read.
func TestNoBundleIsBuiltThatNobodyReads(t *testing.T) {
	start := policytest.Copy(t, overlay.Start())
	for _, revision := range []string{"a b", "\x7f", "v1\n", strings.Repeat("1", 129)} {
		if _, err := bundles.Build(folder(t, start), revision, nil); err == nil || !strings.Contains(err.Error(), "printable") {
			t.Errorf("revision %q: %v", revision, err)
		}
	}
	whole := policytest.Small(t)
	for want, root := range map[string]string{"part of a tree": `{"_a": {}}`, "name of a folder": `{"a/b": 1}`, "data.schemas": `{"schemas": {"limit": 1}}`} {
		if _, err := bundles.Build(folder(t, whole.With("data.json", root)), "7", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", root, err)
		}
	}
	half := `{"x": "` + strings.Repeat("x", 17<<20) + `"}`
	large := start.With("own_a/data.json", half).With("own_b/data.json", half)
	if _, err := bundles.Build(folder(t, large), "7", nil); err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
		t.Error(err)
	}
}
