package diff_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
)

// TestTextsOfATreeAreOnlyTexts: a reason makes no line of its own, no markup and no control sequence of a terminal.
func TestTextsOfATreeAreOnlyTexts(t *testing.T) {
	r := &diff.Report{NewAccess: []compare.Row{{
		Entry: "decision", Caller: "self", Credential: "token", New: compare.Answer{Allow: true, Reason: "a\n\n# Approved\r\x1b[2J\u202e \\*b\\* ~c~ <d> [e](f) @g `h`"},
	}}}
	const want = `- decision, by self, with a token \[]: denied () -&gt; allowed (a  # Approved  \[2J  \\\*b\\\* \~c\~ &lt;d&gt; \[e](f) ` + "@\u200bg 'h')\n"
	if got := r.Markdown(); !strings.Contains(got, want) {
		t.Errorf("%q has no %q", got, want)
	}
	if got := r.Text(); strings.ContainsAny(got, "\r\x1b\u202e") || strings.Contains(got, "\n# Approved") {
		t.Errorf("%q", got)
	}
}
