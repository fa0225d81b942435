package replay_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// record has a log on disk take so many decisions of the asker, and returns its folder.
func record(t *testing.T, a *asker, decisions int) string {
	t.Helper()
	dir := t.TempDir()
	l := must.Get(decisionlog.Open(t.Context(), decisionlog.Options{
		Dir: dir, Required: true, Size: 1 << 40, Age: time.Hour, Secrets: [][]byte{make([]byte, 32)}, Input: engine.RecordedInput,
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}))(t)
	for rest := decisions; rest > 0; {
		group := make([]*resources.Judgement, min(rest, 2000))
		for i := range group {
			group[i] = a.next(t)
		}
		must.Do(t, l.Record(t.Context(), group...))
		rest -= len(group)
	}
	must.Do(t, l.Close())
	return dir
}

// TestTheTreeThatHasDecidedDecidesTheSame: recorded decisions of every kind, judged anew by their own tree, have the same
// verdicts, reasons and contexts.
func TestTheTreeThatHasDecidedDecidesTheSame(t *testing.T) {
	t.Parallel()
	decisions := tier.Amount(ownDecisions, 4_000)
	a := newAsker(t, theTree(t))
	began := time.Now()
	dir := record(t, a, decisions)
	recorded, allowed := time.Since(began), 0
	r := replay.New(compiled(t, theTree(t)))
	must.Do(t, decisionlog.Reader{Dir: dir}.Oldest(t.Context(), decisionlog.Filter{}, func(rec *decisionlog.Record) error {
		j := rec.Judgement()
		if j.Decision.Allowed {
			allowed++
		}
		r.Add(t.Context(), j)
		return nil
	}))
	report := r.Report()
	t.Logf("%d decisions, %d of them allowed; recorded in %.1f s, judged anew %.0f a second", report.Judged, allowed, recorded.Seconds(), float64(report.Judged)/report.Took.Seconds())
	if report.Judged != decisions || report.Differs() || report.Reasons > 0 || len(report.NotJudged) > 0 || len(report.Old) != 1 || report.Old[report.New] != decisions {
		t.Errorf("%+v", report)
	}
	if allowed < decisions/10 || allowed > decisions*9/10 {
		t.Errorf("%d of %d were allowed, which shows little", allowed, decisions)
	}
}

// TestRecordsOfCallsAreNotJudged guarantees that calls at MCP servers are neither judged nor missed. Their decisions have
// records of their own.
func TestRecordsOfCallsAreNotJudged(t *testing.T) {
	t.Parallel()
	r := replay.New(compiled(t, theTree(t)))
	for _, path := range []string{resources.PathMCPCall, resources.PathMCPOutcome} {
		r.Add(t.Context(), &resources.Judgement{Path: path, Call: &resources.MCPCall{}})
		r.AddMasked(t.Context(), &replay.Masked{Masked: engine.Masked{Path: path, Input: []byte(`{}`)}, Result: []byte(`{"allow":true}`)})
	}
	if report := r.Report(); report.Judged > 0 || !report.Whole() {
		t.Errorf("%+v", report)
	}
}
