package decisionlog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestARemovedSegmentTakesNoFurtherVerdict guarantees that a required verdict has its record in the folder, also after
// somebody removed or moved the open segment. Later verdicts have a segment of their own, and Verify names the missing one.
func TestARemovedSegmentTakesNoFurtherVerdict(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) { must.Do(t, os.Remove(path)) },
		"moved":   func(t *testing.T, path string) { must.Do(t, os.Rename(path, path+".kept")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.open(t)
			must.Do(t, l.Record(t.Context(), judgement(t, 0)))
			remove(t, w.file("000000000001.log"))
			if err := l.Record(t.Context(), judgement(t, 1)); err != nil && !resources.IsKind(err, resources.KindUnavailable) {
				t.Fatal(err)
			} else if err == nil && !slices.Contains(w.ids(t), judgement(t, 1).ID) { // the log has looked before
				t.Error("a verdict was answered without a record")
			}
			must.Do(t, l.Record(t.Context(), judgement(t, 2)))
			must.Do(t, l.Close())
			if got := w.ids(t); !slices.Contains(got, judgement(t, 2).ID) || slices.Contains(got, judgement(t, 0).ID) {
				t.Errorf("the records %v", got)
			}
			if r := w.verify(t); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].String(), "segment 1: is missing") {
				t.Errorf("%v", r.Findings)
			}
			if said := w.said.all(); !strings.Contains(said, "not in the folder any more") {
				t.Errorf("the log: %s", said)
			}
		})
	}
}

// TestARemovedSegmentIsNoticedWithoutAWriter guarantees that a log without Required begins another segment within a few
// seconds.
func TestARemovedSegmentIsNoticedWithoutAWriter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Required = false }
	l := w.open(t)
	must.Do(t, os.Remove(w.file("000000000001.log")))
	harness.Soon(t, "the next segment", func() bool {
		_, err := os.Stat(w.file("000000000002.log"))
		return err == nil
	})
	must.Do(t, l.Record(t.Context(), judgement(t, 0)))
	must.Do(t, l.Close())
	if got := w.ids(t); !slices.Equal(got, []string{judgement(t, 0).ID}) || l.Stats().Failures != 1 {
		t.Errorf("the records %v, %+v", got, l.Stats())
	}
	if n := strings.Count(w.said.all(), "not in the folder any more"); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// TestAFolderOfAnyName guarantees that a log opens in a folder with the signs of a pattern in its name, and removes the
// unfinished files of a crash.
func TestAFolderOfAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a[b", "a[b]"} {
		w := newWorld(t)
		w.dir = filepath.Join(w.dir, name)
		must.Do(t, w.open(t).Close())
		torn := w.file("sent.json.1.tmp")
		must.Do(t, os.WriteFile(torn, nil, 0o600))
		must.Do(t, w.open(t).Close())
		if _, err := os.Stat(torn); err == nil {
			t.Errorf("%s: a file that was not finished stays", name)
		}
	}
}
