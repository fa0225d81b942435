package decisionlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestVerdictsAreReadBackWhole, of every kind, in both orders, also from compressed segments.
func TestVerdictsAreReadBackWhole(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	var verdicts []*resources.Judgement
	for n := range 100 {
		verdicts = append(verdicts, judgement(t, n))
	}
	g := judgement(t, 100)
	g.Path, g.ParentID, g.Question.Action = resources.PathGrantable, "id-000099", resources.Action{}
	g.Question.Target, g.Question.Route = resources.TargetAt("proj-a-v1", "a/b"), nil
	g.Question.Grant = &resources.Grant{Permissions: []string{"project:*:read"}, Until: g.Question.Now + 1000}
	a := judgement(t, 101)
	a.Path, a.Question.Action, a.Question.Target, a.Question.Route = "apps/docs/decision", resources.Action{}, resources.Target{}, nil
	a.Question.App = &resources.Entities{
		ResourceType: "doc", Subject: []byte(`{"id":"a \"b\""}`), Action: []byte(`{"name":"é"}`), Resource: []byte(`{"type":"doc"}`),
	}
	a.Context = []resources.Member{{Name: "b", Value: []byte(`{"x":1.50}`)}, {Name: `a "c"`, Value: []byte(`null`)}}
	verdicts = append(verdicts, g, a)
	must.Do(t, l.Record(t.Context(), verdicts...))
	must.Do(t, l.Close())
	check := func() {
		t.Helper()
		var got []*resources.Judgement
		each := func(r *decisionlog.Record) error { got = append(got, r.Judgement()); return nil }
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Newest(t.Context(), decisionlog.Filter{}, each))
		slices.Reverse(got)
		newest := got
		got = nil
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, each))
		for i, want := range verdicts {
			if !reflect.DeepEqual(newest[i], want) || !reflect.DeepEqual(got[i], want) {
				t.Fatalf("%d:\n%+v\n%+v\nwant\n%+v", i, newest[i], got[i], want)
			}
		}
		w.wantWhole(t, 102)
	}
	check()
	must.Do(t, w.open(t).Close()) // which compresses what is closed
	if _, err := readDir(w.file("")); err != nil || !strings.Contains(fmt.Sprint(readDir(w.file(""))), "000000000001.log.zst") {
		t.Errorf("nothing was compressed: %v", err)
	}
	check()
}

// TestFactsAreWrittenOnceForEachContent in a segment.
func TestFactsAreWrittenOnceForEachContent(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 70)
	must.Do(t, l.Close())
	if n := bytes.Count(w.read(t, "000000000001.log"), []byte(`"facts":{`)); n != 7 {
		t.Errorf("%d facts of 7 subjects", n)
	}
}

// TestRequiredVerdictsAreOnDiskWhenTheyAreTold, each of 64 callers' own.
func TestRequiredVerdictsAreOnDiskWhenTheyAreTold(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	var all sync.WaitGroup
	for c := range 64 {
		all.Go(func() {
			for n := range 5 {
				j := judgement(t, c*100+n)
				if err := l.Record(t.Context(), j); err != nil {
					t.Error(err)
				}
				if !bytes.Contains(w.read(t, "000000000001.log"), []byte(j.ID)) {
					t.Errorf("%s was told and is not in the file", j.ID)
				}
			}
		})
	}
	all.Wait()
	if s := l.Stats(); s.Written != 320 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
	must.Do(t, l.Close())
	w.wantWhole(t, 320)
	if err := l.Record(t.Context(), judgement(t, 1)); !resources.IsKind(err, resources.KindUnavailable) {
		t.Errorf("a closed log takes a verdict: %v", err)
	}
}

// TestBestEffortNeverWaits, also where nothing is written; what is lost is counted, and the log tells.
func TestBestEffortNeverWaits(t *testing.T) {
	w, h := newWorld(t), newHolder()
	w.change = func(o *decisionlog.Options) { o.Required, o.Mask = false, h }
	l := w.open(t)
	must.Do(t, l.Record(t.Context(), judgement(t, 0)))
	<-h.held // the writer is stuck from here on
	const many = 20_000
	for n := range many {
		must.Do(t, l.Record(t.Context(), judgement(t, 1+n)))
	}
	s := l.Stats()
	if s.Lost == 0 || int(s.Lost)+s.Waiting != many {
		t.Fatalf("%+v", s)
	}
	close(h.letGo)
	must.Do(t, l.Close())
	r := w.verify(t)
	if len(r.Findings) > 0 || r.Lost != s.Lost || r.Records != int64(1+s.Waiting) {
		t.Errorf("%+v, lost were %d", r, s.Lost)
	}
}

// recordMany records so many verdicts, 500 at once.
func recordMany(t testing.TB, l *decisionlog.Log, many int) {
	t.Helper()
	for n := 0; n < many; n += 500 {
		var some []*resources.Judgement
		for i := range 500 {
			some = append(some, judgement(t, n+i))
		}
		must.Do(t, l.Record(t.Context(), some...))
	}
}

// TestRetentionLeavesASignedBeginning: the log stays within its size and age, and is whole.
func TestRetentionLeavesASignedBeginning(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Size = 1 << 20 }
	l := w.open(t)
	recordMany(t, l, 6000)
	must.Do(t, l.Close())
	w.wantWhole(t, 6000)
	w.change = func(o *decisionlog.Options) { o.Size = 100 << 10 }
	must.Do(t, w.open(t).Close())
	r := w.verify(t)
	if len(r.Findings) > 0 || r.Records == 0 || r.Records > 5000 {
		t.Errorf("%d records: %v", r.Records, r.Findings)
	}
	ids := w.ids(t)
	if ids[len(ids)-1] != "id-005999" {
		t.Errorf("the newest is %s", ids[len(ids)-1])
	}
	w.change = func(o *decisionlog.Options) { o.Now = func() time.Time { return time.Now().Add(25 * time.Hour) } }
	must.Do(t, w.open(t).Close())
	if r = w.verify(t); len(r.Findings) > 0 || r.Records != 0 {
		t.Errorf("%d records: %v", r.Records, r.Findings)
	}
}

// TestRetentionOfWhatTheSameProcessHasWritten reads no segment again, and leaves the log whole.
func TestRetentionOfWhatTheSameProcessHasWritten(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Size = 100 << 10 }
	l := w.open(t)
	recordMany(t, l, 6000)
	must.Do(t, l.Close())
	if r := w.verify(t); len(r.Findings) > 0 || r.Records == 0 || r.Records > 5000 {
		t.Errorf("%d records: %v", r.Records, r.Findings)
	}
}

// TestRetentionGoesOnBesideAFailedCompression guarantees that the log stays within its size while one of its segments can't
// be compressed, as on a disk with a bad block.
func TestRetentionGoesOnBesideAFailedCompression(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Size = 1 << 20 }
	l := w.open(t)
	recordMany(t, l, 6000)
	must.Do(t, l.Close())
	plain := must.Get(filepath.Glob(w.file("*.log")))(t)
	must.Do(t, os.MkdirAll(plain[len(plain)-1]+".zst/x", 0o700)) // in the place of the compressed segment
	w.change = func(o *decisionlog.Options) { o.Size = 100 << 10 }
	must.Do(t, w.open(t).Close())
	if r := w.verify(t); len(r.Findings) > 0 || r.Records == 0 || r.Records > 5000 {
		t.Errorf("%d records: %v", r.Records, r.Findings)
	}
	if !strings.Contains(w.said.text, "can't be compressed") {
		t.Errorf("it says %q", w.said.text)
	}
}

// TestSearchFindsByEachPart of a filter, also in the place above.
func TestSearchFindsByEachPart(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 21)
	yes := true
	for name, c := range map[string]struct {
		filter decisionlog.Filter
		want   int
	}{
		"all": {decisionlog.Filter{}, 21}, "id": {decisionlog.Filter{ID: "id-000004"}, 1}, "user": {decisionlog.Filter{User: "user-3-v1"}, 3},
		"caller": {decisionlog.Filter{User: "service-a"}, 21}, "account": {decisionlog.Filter{Account: "acct-b-v1"}, 0},
		"action": {decisionlog.Filter{Action: "project:instance:read"}, 21}, "verdict": {decisionlog.Filter{Allowed: &yes}, 7},
		"place": {decisionlog.Filter{Place: "projects/proj-a-v1/instances/i-1"}, 1}, "place above": {decisionlog.Filter{Place: "accounts/acct-a-v1/projects/proj-a-v1"}, 21},
		"half a name": {decisionlog.Filter{Place: "projects/proj-a"}, 0}, "path": {decisionlog.Filter{Path: resources.PathAccess}, 0},
		"since": {decisionlog.Filter{Since: resources.At(time.Now().Add(time.Hour))}, 0}, "until": {decisionlog.Filter{Until: resources.At(time.Now().Add(time.Hour))}, 21},
	} {
		count := 0
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Newest(t.Context(), c.filter, func(*decisionlog.Record) error { count++; return nil }))
		if count != c.want {
			t.Errorf("%s: found %d, want %d", name, count, c.want)
		}
	}
}

// TestProcessesOnOneFolderHaveALogEach, and one that ends leaves its log to the next.
func TestProcessesOnOneFolderHaveALogEach(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t), w.open(t)
	record(t, a, 0, 3)
	record(t, b, 3, 6)
	must.Do(t, a.Close())
	c := w.open(t)
	record(t, c, 6, 9)
	must.Do(t, b.Close())
	must.Do(t, c.Close())
	if r := w.verify(t); len(r.Findings) > 0 || r.Logs != 2 || r.Records != 9 || !slices.IsSorted(w.ids(t)) {
		t.Errorf("%+v, %v", r, w.ids(t))
	}
}

// TestABatchThatIsTooLargeIsNotRecorded, also where nothing else waits: one body can be the context of a
// thousand questions.
func TestABatchThatIsTooLargeIsNotRecorded(t *testing.T) {
	for _, required := range []bool{false, true} {
		w := newWorld(t)
		w.change = func(o *decisionlog.Options) { o.Required = required }
		l := w.open(t)
		shared := []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
		batch := make([]*resources.Judgement, 64)
		for i := range batch {
			batch[i] = judgement(t, i)
			batch[i].Path, batch[i].Question.App = resources.PathApps+"a/decision", &resources.Entities{ResourceType: "doc", Context: shared}
		}
		err := l.Record(t.Context(), batch...)
		if required != resources.IsKind(err, resources.KindUnavailable) {
			t.Errorf("required %t: %v", required, err)
		}
		if lost := l.Stats().Lost; lost > 0 == required || lost%64 != 0 {
			t.Errorf("required %t: %d are lost", required, lost)
		}
		must.Do(t, l.Record(t.Context(), judgement(t, 64)))
		must.Do(t, l.Close())
		if ids := w.ids(t); !slices.Equal(ids, []string{"id-000064"}) {
			t.Errorf("required %t: %d records", required, len(ids))
		}
	}
}

// fullStore is a store that takes the first head and then nothing.
type fullStore struct{ heads }

func (s *fullStore) SaveHead(ctx context.Context, h decisionlog.Head) error {
	if kept, _ := s.Heads(ctx); len(kept) > 0 {
		return errors.New("the disk takes no writes")
	}
	return s.heads.SaveHead(ctx, h)
}

// TestHeadThatIsNotKeptEndsNoStop: it is a warning, also at the end, and the next start keeps the head.
func TestHeadThatIsNotKeptEndsNoStop(t *testing.T) {
	w, full := newWorld(t), &fullStore{}
	w.change = func(o *decisionlog.Options) { o.Heads = full }
	l := w.open(t)
	must.Do(t, l.Record(t.Context(), judgement(t, 1)))
	must.Do(t, l.Close())
	if !strings.Contains(w.said.text, "can't be kept in the store") {
		t.Errorf("it says %s", w.said.text)
	}
	w.change, w.heads = nil, &full.heads
	must.Do(t, w.open(t).Close())
	w.wantWhole(t, 1)
}

// TestAFollowerMissesNothing that was decided while it read what was there before.
func TestAFollowerMissesNothing(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	old, now := judgement(t, 1), judgement(t, 2)
	old.Question.Now = now.Question.Now - 60_000
	must.Do(t, l.Record(t.Context(), old, now))
	must.Do(t, l.Close())
	ended, end := context.WithCancel(t.Context())
	var got []string
	note := func(r *decisionlog.Record) error {
		end()
		got = append(got, r.Judgement().ID)
		return nil
	}
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Follow(ended, decisionlog.Filter{}, now.Question.Now, nil, note))
	if !slices.Equal(got, []string{now.ID}) {
		t.Errorf("%v, want %s alone", got, now.ID)
	}
	// A reading ends with its context, also where it finds nothing.
	reader := decisionlog.Reader{Dir: w.dir, Progress: func(int, int) { t.Error("a segment is read after the end") }}
	must.Do(t, reader.Follow(ended, decisionlog.Filter{}, 0, nil, note))
	if err := reader.Newest(ended, decisionlog.Filter{ID: "none"}, note); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(got) != 1 {
		t.Errorf("%v after the end", got)
	}
}
