package decisionlog_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestASegmentThatIsCompressedMeanwhileIsRead guarantees a listed segment and the name of its log to a reader after the
// compression of the segment. Otherwise pages and followers would pass over its decisions.
func TestASegmentThatIsCompressedMeanwhileIsRead(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 3)
	must.Do(t, l.Close())
	plain := w.file("000000000001.log")
	before, entries := must.Get(decisionlog.LogIn(plain))(t), must.Get(os.ReadDir(w.file(".")))(t)
	must.Do(t, w.open(t).Close()) // compresses it
	if _, err := os.Stat(plain); err == nil {
		t.Fatal("it is not compressed")
	}
	if numbers := must.Get(decisionlog.Listed(w.file("."), entries))(t); !slices.Equal(numbers, []int64{1}) {
		t.Errorf("the segments %v", numbers)
	}
	if log := must.Get(decisionlog.LogIn(plain))(t); log == "" || log != before {
		t.Errorf("the log %q, before %q", log, before)
	}
	must.Do(t, os.Remove(plain+".zst"))
	if numbers := must.Get(decisionlog.Listed(w.file("."), entries))(t); len(numbers) > 0 {
		t.Errorf("the segments %v after its removal", numbers)
	}
}

// TestPagesOfALogThatBeginsASegmentAreWhole guarantees the decisions of a log, and its end, while the first line of its next
// segment is not yet whole.
func TestPagesOfALogThatBeginsASegmentAreWhole(t *testing.T) {
	for _, first := range []string{"", `{"start":{"segment":2,`} {
		w := newWorld(t)
		l := w.open(t)
		record(t, l, 0, 3)
		must.Do(t, l.Close())
		must.Do(t, os.WriteFile(w.file("000000000002.log"), []byte(first), 0o600))
		r := decisionlog.Reader{Dir: w.dir, Index: &decisionlog.Index{}}
		search := decisionlog.Search{Size: 10, Deadline: time.Now().Add(time.Minute)}
		ends := must.Get(r.Ends())(t)
		newest := must.Get(r.Before(t.Context(), search, ends))(t)
		oldest := must.Get(r.After(t.Context(), search, nil))(t)
		if got := fmt.Sprint(len(ends), len(newest.Records), len(oldest.Records)); got != "1 3 3" {
			t.Errorf("after %q: ends, the newest and the oldest decisions are %s", first, got)
		}
	}
}
