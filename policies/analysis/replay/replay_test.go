package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/analysis/replay"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestNothingIsGuessed: records that are not whole, or that policy was not asked about, are counted and
// not judged; a verdict that the tree does not give is a flip, with a test.
func TestNothingIsGuessed(t *testing.T) {
	src, err := policies.Read(policytest.Copy(t, policies.Tree()))
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := proof.Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	action, err := resources.ParseAction("project:instance:read")
	if err != nil {
		t.Fatal(err)
	}
	told := &resources.Judgement{
		ID: "id1", Path: resources.PathDecision, Decision: resources.Decision{Allowed: true, Reason: "so it was"},
		Question: resources.Question{Action: action, AccountID: "acct-a-v1", Now: resources.At(time.Now())},
	}
	r := replay.New(set)
	r.Add(t.Context(), nil)
	r.Add(t.Context(), &resources.Judgement{Unasked: true})
	r.Add(t.Context(), &resources.Judgement{Path: "authz/other"})
	r.Add(t.Context(), told)
	report := r.Report()
	if report.Judged != 1 || len(report.NotJudged) != 3 || len(report.Flips) != 1 || report.Flips[0].Allowed || report.Flips[0].Count != 1 {
		t.Errorf("%+v", report)
	}
	if text, err := report.Tests(); err != nil || !strings.Contains(string(text), "test_id1 if") {
		t.Errorf("%s, %v", text, err)
	}
}
