//go:build !race

package proof_test

// One goroutine loads a tree: the race detector would find nothing, and make it slow.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// FuzzPolicyLoader replaces a file of a tree by any text. It guarantees that Load accepts the tree, or rejects it with
// problems of one line each, without a panic and within a minute.
func FuzzPolicyLoader(f *testing.F) {
	files := []string{"authz/more.rego", "authz/more_test.rego", "authz/authz.rego", "grants/data.json", "routes/data.json", "more/data.json", "schemas/input/schema.json"}
	for file, texts := range [][]string{
		{
			"package authz\n\nx if input.acton.id", "package authz\n\ndefault decision := {\"allow\": true, \"reason\": \"\"}", "package authz\n\nx := {",
			"package authz\n\nf(x) := f(x)", "package a\n\nimport data.authz\n\nx := authz.decision with input as {}", "package authz.decision\n\nallow := true", "# METADATA\n# schemas:\n#  - input: {\npackage a",
		},
		{"package authz_test\n\ntest_a if true", "package authz_test\n\ntodo_test_a if false", "package authz_test\n\ntest_a[x] if some x in [1, {}]"},
		{policytest.SmallAuthz, strings.Replace(policytest.SmallAuthz, "false", "true", 1), strings.ReplaceAll(policytest.SmallAuthz, "default access", "access")},
		{policytest.SmallGrants, "{}", `{"a":{"scope":"ACCOUNT","scope":"PROJECT"}}`, strings.Repeat(`{"a":`, 2000)},
		{policytest.SmallRoutes, strings.Replace(policytest.SmallRoutes, "{proxy+}", "{a}/{a}", 1), "[]", "\xef\xbb\xbf{}"},
		{`{"a": 1e999}`, `{"a":"\ud800"}`, "{}{}"},
		{"{}", `{"type":"object"}`},
	} {
		for _, text := range texts {
			f.Add(uint8(file), text)
		}
	}
	small := policytest.Small(f)
	f.Fuzz(func(t *testing.T, file uint8, text string) {
		if len(text) > 1<<16 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		src, err := policies.Read(small.With(files[int(file)%len(files)], text))
		if err != nil {
			t.Fatal(err)
		}
		err = proof.ProveWithin(ctx, src, time.Second)
		if ctx.Err() != nil {
			t.Fatal("a proof takes more than a minute")
		}
		var problems proof.Problems
		switch {
		case len(src.Revision) == 0:
			t.Fatal("a tree without a revision")
		case err != nil && (!errors.As(err, &problems) || len(problems) == 0):
			t.Fatalf("rejected without a problem: %v", err)
		}
		for _, line := range problems {
			if line == "" || strings.ContainsAny(line, "\r\n") {
				t.Fatalf("a problem of several lines: %q", line)
			}
		}
	})
}
