package decisionlog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// older returns a folder of January 2026, of a version without signatures on heads. "closed" has a compressed segment and
// a masked one. "broken" is open after a crash. Its fourth record repeats a name: that version gave two masked names
// the same word.
func older(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t)
	must.Do(t, os.CopyFS(w.dir, os.DirFS("testdata/"+name)))
	raw := must.Get(os.ReadFile("testdata/" + name + "/heads.json"))(t)
	var all []decisionlog.Head
	must.Do(t, json.Unmarshal(raw, &all))
	w.heads.byLog = map[string]decisionlog.Head{}
	for _, h := range all {
		w.heads.byLog[h.Log] = h
	}
	w.change = func(o *decisionlog.Options) {
		o.Now = func() time.Time { return time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC) }
	}
	return w
}

// TestALogOfAnOlderVersionIsWhole, before and after this one goes on with it, and its records are read.
func TestALogOfAnOlderVersionIsWhole(t *testing.T) {
	w := older(t, "closed")
	w.wantWhole(t, 5)
	if got := w.ids(t); !slices.Equal(got, idsTo(5)) {
		t.Errorf("%v", got)
	}
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{ID: "id-000002"}, func(r *decisionlog.Record) error {
		if j := r.Judgement(); j == nil || string(j.Question.App.Context) != `{"a":1.50}` || len(j.Context) != 1 {
			t.Errorf("%+v", j)
		}
		return nil
	}))
	l := w.open(t)
	record(t, l, 5, 7)
	must.Do(t, l.Close())
	w.wantWhole(t, 7)
}

// TestAnUnreadableLineIsOneFindingAndOneGap: what is behind it is there after a crash, is read in both orders and
// followed, is sent on, and verified.
func TestAnUnreadableLineIsOneFindingAndOneGap(t *testing.T) {
	w := older(t, "broken")
	lines := bytes.SplitAfter(w.read(t, "000000000001.log"), []byte{'\n'})
	w.headAt(t, bytes.Join(lines[:3], nil))
	s, before := newSink(t), w.change
	w.change = func(o *decisionlog.Options) {
		before(o)
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: http.DefaultClient, First: time.Millisecond, Longest: 10 * time.Millisecond}
	}
	want := []string{"id-000000", "id-000001", "id-000003", "id-000004", "id-000005"}
	l := w.open(t)
	record(t, l, 5, 6)
	s.wait(t, want)
	for limit := time.Now().Add(30 * time.Second); l.Stats().NotSent == 0 && time.Now().Before(limit); { // it is counted after the answer
		runtime.Gosched()
	}
	if n := l.Stats().NotSent; n != 1 {
		t.Errorf("%d are not sent, by the metric", n)
	}
	must.Do(t, l.Close())
	if r := w.verify(t); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].String(), "line 7: can't be read") || r.Records != 5 {
		t.Errorf("%+v", r)
	}
	var unreadable uint64
	reader := decisionlog.Reader{Dir: w.dir, Missing: func(m decisionlog.Missing) { unreadable += m.Unreadable }}
	for name, newest := range map[string]bool{"oldest": false, "newest": true} {
		var got []string
		take := func(r *decisionlog.Record) error { got = append(got, r.Judgement().ID); return nil }
		unreadable = 0
		if newest {
			must.Do(t, reader.Newest(t.Context(), decisionlog.Filter{}, take))
			slices.Reverse(got)
		} else {
			must.Do(t, reader.Oldest(t.Context(), decisionlog.Filter{}, take))
		}
		if !slices.Equal(got, want) || unreadable != 1 {
			t.Errorf("%s: %v, and %d are unreadable", name, got, unreadable)
		}
	}
	must.Do(t, w.open(t).Close()) // which compresses the segment
	if got := w.ids(t); !slices.Equal(got, want) {
		t.Errorf("compressed: %v", got)
	}
}

// TestAChangeBehindAnUnreadableLineIsFound: the chain goes on through the bytes of the line.
func TestAChangeBehindAnUnreadableLineIsFound(t *testing.T) {
	w := older(t, "broken")
	text := bytes.Replace(w.read(t, "000000000001.log"), []byte("id-000003"), []byte("id-000033"), 1)
	must.Do(t, os.WriteFile(w.file("000000000001.log"), text, 0o600))
	r, err := decisionlog.Verify(t.Context(), w.dir, decisionlog.VerifyOptions{Secrets: w.secrets})
	if must.Do(t, err); len(r.Findings) != 2 || !strings.Contains(r.Findings[1].String(), "does not follow the line before it") {
		t.Errorf("%v", r.Findings)
	}
}

// TestADamagedSegmentIsOneGap: the lines before the damage and the segments behind it are read and sent on, a start goes
// on, and retention removes it when it is old.
func TestADamagedSegmentIsOneGap(t *testing.T) {
	w := newWorld(t)
	for n := range 3 {
		l := w.open(t)
		record(t, l, 10*n, 10*n+10)
		must.Do(t, l.Close())
	}
	packed := w.read(t, "000000000001.log.zst")
	must.Do(t, os.WriteFile(w.file("000000000001.log.zst"), packed[:len(packed)/2], 0o600))
	s := newSink(t)
	w.change = func(o *decisionlog.Options) {
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: http.DefaultClient, First: time.Millisecond, Longest: 10 * time.Millisecond}
	}
	l := w.open(t)
	s.wait(t, idsTo(30)[10:])
	must.Do(t, l.Close())
	if got := w.ids(t); !slices.Equal(got, idsTo(30)[10:]) {
		t.Errorf("%v", got)
	}
	if r := w.verify(t); len(r.Findings) != 1 || r.Findings[0].Segment != 1 {
		t.Errorf("%v", r.Findings)
	}
	w.change = func(o *decisionlog.Options) { o.Now = func() time.Time { return time.Now().Add(25 * time.Hour) } }
	must.Do(t, w.open(t).Close())
	if r := w.verify(t); len(r.Findings) > 0 || r.Records > 0 {
		t.Errorf("what is old is still there: %+v", r)
	}
}

// TestADamagedEndIsOneGap: a start goes on behind a compressed segment that is damaged and the last one, and verify finds
// both.
func TestADamagedEndIsOneGap(t *testing.T) {
	w := threeSegments(t)
	must.Do(t, os.Remove(w.file("000000000003.log")))
	packed := w.read(t, "000000000002.log.zst")
	must.Do(t, os.WriteFile(w.file("000000000002.log.zst"), packed[:len(packed)/2], 0o600))
	l := w.open(t)
	record(t, l, 40, 45)
	must.Do(t, l.Close())
	if got := w.ids(t); !slices.Equal(got[:10], idsTo(10)) || got[len(got)-1] != "id-000044" {
		t.Errorf("%v", got)
	}
	if r := w.verify(t); len(r.Findings) == 0 {
		t.Error("verify finds nothing")
	}
}

// TestALineThatDoesNotFollowIsNoEnd: of lines behind the head that the store knows a crash has lost one. A start sets
// aside what is behind it, and the log is whole.
func TestALineThatDoesNotFollowIsNoEnd(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 9)
	must.Do(t, l.Close())
	lines := bytes.SplitAfter(w.read(t, "000000000001.log"), []byte{'\n'})
	lines = lines[:len(lines)-2] // without its end, as after a crash
	w.headAt(t, bytes.Join(lines[:4], nil))
	n := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte("id-000005")) })
	must.Do(t, os.WriteFile(w.file("000000000001.log"), bytes.Join(slices.Delete(lines, n, n+1), nil), 0o600))
	must.Do(t, w.open(t).Close())
	if got := w.ids(t); !slices.Equal(got, idsTo(5)) {
		t.Errorf("%v", got)
	}
	w.wantWhole(t, 5)
}

// TestAChangedLineCutsOffNothing that the store knows to have been on disk: a start leaves what is behind it, and verify
// finds the line ever after.
func TestAChangedLineCutsOffNothing(t *testing.T) {
	for name, change := range map[string]func(text []byte) []byte{
		"a line": func(text []byte) []byte { return bytes.Replace(text, []byte("id-000004"), []byte("id-000044"), 1) },
		"a line that is no JSON then": func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"id-000004"`), []byte(`"id-000004\`), 1)
		},
		"the first line": func(text []byte) []byte { return bytes.Replace(text, []byte(`"form":1`), []byte(`"form":{`), 1) },
	} {
		w := newWorld(t)
		l := w.open(t)
		record(t, l, 0, 9)
		must.Do(t, l.Close())
		text := w.read(t, "000000000001.log")
		text = text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1] // as after a crash
		w.headAt(t, text)
		must.Do(t, os.WriteFile(w.file("000000000001.log"), change(text), 0o600))
		must.Do(t, w.open(t).Close())
		if got := fmt.Sprint(w.ids(t)); !strings.Contains(got, "id-000003") || !strings.Contains(got, "id-000008") {
			t.Errorf("%s: %s", name, got)
		}
		if r := w.verify(t); len(r.Findings) == 0 {
			t.Errorf("%s: verify finds nothing", name)
		}
	}
}
