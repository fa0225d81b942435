package decisionlog_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestThePlaceIsThatOfVerify guarantees one place of a record, by each way of reading it and by Verify once it is changed.
// The next line has its hash. A record of a removed segment has no place.
func TestThePlaceIsThatOfVerify(t *testing.T) {
	w := threeSegments(t)
	var chain [][]byte
	begins := map[int64]int{} // of segments in the chain
	for n := range int64(3) {
		begins[n+1] = len(chain)
		chain = append(chain, bytes.Split(bytes.TrimSuffix(w.lines(t, n+1), []byte{'\n'}), []byte{'\n'})...)
	}
	places := map[string]*decisionlog.Place{}
	for name, read := range readings() {
		for _, r := range read(t, decisionlog.Reader{Dir: w.dir}) {
			p, id := must.Get(r.Place())(t), r.Event(input).DecisionID
			index := begins[p.Segment] + int(p.Line) - 1
			if line := chain[index]; !bytes.Contains(line, []byte(id)) || decisionlog.Hash(line) != p.Hash || !bytes.HasPrefix(chain[index+1], []byte(`{"prev":"`+p.Hash+`"`)) {
				t.Errorf("%s: %s is not at %+v", name, id, p)
			}
			if places[id] == nil {
				places[id] = p
			} else if *places[id] != *p {
				t.Errorf("%s: %s is at %+v and %+v", name, id, p, places[id])
			}
		}
	}
	const last, id = "000000000003.log", "id-000025"
	must.Do(t, os.WriteFile(w.file(last), bytes.Replace(w.read(t, last), []byte(id), []byte("id-000026"), 1), 0o600))
	findings, p := w.verify(t).Findings, places[id]
	if len(places) != 30 || len(findings) == 0 || findings[0].Segment != p.Segment || findings[0].Line != p.Line+1 || !strings.Contains(findings[0].Problem, "line before") {
		t.Errorf("%d places, one at %+v, and %+v", len(places), p, findings)
	}
	var removed *decisionlog.Record
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error { removed = r; return decisionlog.Enough() }))
	must.Do(t, os.Remove(w.file("000000000001.log.zst")))
	if p := must.Get(removed.Place())(t); p != nil {
		t.Errorf("a removed record is at %+v", p)
	}
}

// lines returns the text of a segment.
func (w *world) lines(t *testing.T, number int64) []byte {
	t.Helper()
	plain := fmt.Sprintf("%012d.log", number)
	if text, err := os.ReadFile(w.file(plain)); err == nil {
		return text
	}
	return must.Get(must.Get(zstd.NewReader(nil))(t).DecodeAll(w.read(t, plain+".zst"), nil))(t)
}

// readings are the ways to read all records.
func readings() map[string]func(*testing.T, decisionlog.Reader) []*decisionlog.Record {
	type reader = decisionlog.Reader
	all := func(read func(reader, context.Context, decisionlog.Filter, func(*decisionlog.Record) error) error) func(*testing.T, reader) []*decisionlog.Record {
		return func(t *testing.T, r reader) (out []*decisionlog.Record) {
			t.Helper()
			must.Do(t, read(r, t.Context(), decisionlog.Filter{}, func(rec *decisionlog.Record) error { out = append(out, rec); return nil }))
			return out
		}
	}
	page := func(index *decisionlog.Index, read func(reader, context.Context, decisionlog.Search, decisionlog.Places) (decisionlog.Page, error)) func(*testing.T, reader) []*decisionlog.Record {
		return func(t *testing.T, r reader) []*decisionlog.Record {
			t.Helper()
			r.Index = index
			return must.Get(read(r, t.Context(), decisionlog.Search{Size: 100, Deadline: time.Now().Add(time.Minute)}, nil))(t).Records
		}
	}
	return map[string]func(*testing.T, reader) []*decisionlog.Record{
		"newest": all(reader.Newest), "oldest": all(reader.Oldest), "before": page(nil, reader.Before), "after": page(nil, reader.After),
		"before, with an index": page(&decisionlog.Index{}, reader.Before), "after, with an index": page(&decisionlog.Index{}, reader.After),
	}
}
