package decisionlog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/child"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestADiskThatIsFull refuses writes, in a child of its own: a required verdict is refused, what was told
// stays, nothing of what was refused is there, and writing goes on when there is room again. The log reports the outage and
// its end once.
func TestADiskThatIsFull(t *testing.T) {
	if !child.Runs(t) {
		return
	}
	w := newWorld(t)
	l := w.open(t)
	var ids []string
	refused := 0
	child.LimitFiles(t, 20_000)
	for n := range 200 {
		switch err := l.Record(t.Context(), judgement(t, n)); {
		case err == nil:
			ids = append(ids, judgement(t, n).ID)
		case resources.IsKind(err, resources.KindUnavailable):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(ids) == 0 || refused == 0 || l.Stats().Failures == 0 {
		t.Fatalf("%d told, %d refused, %+v", len(ids), refused, l.Stats())
	}
	child.LimitFiles(t, 1<<30)
	for n := 200; n < 210; n++ {
		must.Do(t, l.Record(t.Context(), judgement(t, n)))
		ids = append(ids, judgement(t, n).ID)
	}
	must.Do(t, l.Close())
	for _, line := range []string{"decisions can't be recorded", "decisions are recorded again"} {
		if n := strings.Count(w.said.all(), line); n != 1 {
			t.Errorf("%d lines: %s", n, line)
		}
	}
	if got := w.ids(t); !slices.Equal(got, ids) {
		t.Errorf("%d records of %d that were told", len(got), len(ids))
	}
	w.wantWhole(t, int64(len(ids)))
}
