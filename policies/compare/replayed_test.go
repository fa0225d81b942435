package compare_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// edit is a change of one file of the embedded tree; flips says that it turns verdicts.
type edit struct {
	name, file, old, next string
	flips                 bool
}

func replayedEdits() []edit {
	return []edit{
		{"the running of an assignment", "authz/roles.rego", "\tassignment.running == true\n", "", true},
		{"an access word more", "routes/data.json", `"access": ["self", "service:users:sync"]`, `"access": ["self", "member", "service:users:sync"]`, true},
		{"an end that comes before the grant's", "authz/grantable.rego", "\tassignment.outlasts_grant == true\n", "", true},
		{"a rule renamed", "authz/self_service.rego", "_about_the_caller", "_about_who_calls", false},
	}
}

// TestAReplayFindsWhatWasForetold guarantees that a replay of recorded questions finds exactly the differences
// predicted by the table, with their direction.
func TestAReplayFindsWhatWasForetold(t *testing.T) {
	t.Parallel()
	tree := policytest.Copy(t, policies.Tree())
	old := compiled(t, tree)
	for _, e := range append(replayedEdits(), moreReplayedEdits()...) {
		t.Run(e.name, func(t *testing.T) {
			was := string(tree[e.file].Data)
			if !strings.Contains(was, e.old) {
				t.Fatalf("%s has no %q", e.file, e.old)
			}
			next := compiled(t, tree.With(e.file, strings.ReplaceAll(was, e.old, e.next)))
			foretold, err := compare.Foretell(t.Context(), old, next, 1, foretoldContexts)
			if err != nil {
				t.Fatal(err)
			}
			dir := recordForetold(t, old, foretold)
			flips, r := map[string]bool{}, replay.New(next)
			r.Flipped = func(id string, allowed bool) { flips[id] = allowed }
			err = decisionlog.Reader{Dir: dir}.Oldest(t.Context(), decisionlog.Filter{}, func(rec *decisionlog.Record) error {
				r.Add(t.Context(), rec.Judgement())
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			report, want := r.Report(), 0
			for i, f := range foretold {
				allowed, flipped := flips[idOf(i)]
				turns := f.Old.Allow != f.New.Allow
				if turns {
					want++
				}
				if flipped != turns || flipped && allowed != f.New.Allow {
					t.Errorf("%s %+v: the table has %+v and %+v, the replay found %t to %t", f.Entry, f.Question, f.Old, f.New, flipped, allowed)
				}
			}
			t.Logf("%d decisions, %d of them turned, as foretold", report.Judged, want)
			if report.Judged != len(foretold) || (want > 0) != e.flips {
				t.Errorf("judged %d of %d, of which %d turn: %v %v", report.Judged, len(foretold), want, report.NotJudged, report.Failed)
			}
		})
	}
}

func idOf(i int) string { return fmt.Sprintf("d%08d", i) }

// recordForetold writes the old tree's decisions to a log on disk.
func recordForetold(t *testing.T, old *engine.Set, foretold []compare.Foretold) string {
	t.Helper()
	dir := t.TempDir()
	l, err := decisionlog.Open(t.Context(), decisionlog.Options{
		Dir: dir, Required: true, Size: 1 << 40, Age: time.Hour, Secrets: [][]byte{make([]byte, 32)}, Input: engine.RecordedInput,
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []*resources.Judgement
	for i, f := range foretold {
		j := &resources.Judgement{ID: idOf(i), Path: strings.ReplaceAll(strings.TrimPrefix(f.Entry, "data."), ".", "/"), Question: f.Question}
		j.Decision, err = old.Judge(t.Context(), f.Entry, f.Question, time.Minute)
		if err != nil || j.Decision.Allowed != f.Old.Allow {
			t.Fatalf("%s %+v: %+v, %v, and the table has %+v", f.Entry, f.Question, j.Decision, err, f.Old)
		}
		all = append(all, j)
	}
	if err := l.Record(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
