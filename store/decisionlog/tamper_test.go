package decisionlog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// threeSegments is a log of three runs; the last one was killed.
func threeSegments(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for n := range 3 {
		l := w.open(t)
		record(t, l, 10*n, 10*n+10)
		must.Do(t, l.Close())
	}
	w.wantWhole(t, 30)
	return w
}

// copyOf is a copy of a world that may be changed.
func (w *world) copyOf(t *testing.T) *world {
	t.Helper()
	c := *w
	c.dir = t.TempDir()
	must.Do(t, os.CopyFS(c.dir, os.DirFS(w.dir)))
	return &c
}

// TestEachTamperingIsFound: a changed byte, and a line or a segment that is missing, added or moved.
func TestEachTamperingIsFound(t *testing.T) {
	w := threeSegments(t)
	const last = "000000000003.log"
	lines := bytes.SplitAfter(w.read(t, last), []byte{'\n'})
	lines = lines[:len(lines)-1]
	put := func(w *world, lines ...[]byte) {
		must.Do(t, os.WriteFile(w.file(last), bytes.Join(lines, nil), 0o600))
	}
	for name, change := range map[string]func(w *world){
		"a line is missing":       func(w *world) { put(w, slices.Delete(slices.Clone(lines), 4, 5)...) },
		"a line is there twice":   func(w *world) { put(w, slices.Insert(slices.Clone(lines), 4, lines[4])...) },
		"two lines are exchanged": func(w *world) { c := slices.Clone(lines); c[4], c[5] = c[5], c[4]; put(w, c...) },
		"a line is added at the end": func(w *world) {
			put(w, append(slices.Clone(lines), lines[5])...)
		},
		"the end is missing":         func(w *world) { put(w, lines[:len(lines)-1]...) },
		"the last lines are missing": func(w *world) { put(w, lines[:6]...) },
		"all lines are missing":      func(w *world) { put(w) },
		"a blank line":               func(w *world) { put(w, slices.Insert(slices.Clone(lines), 4, []byte{'\n'})...) },
		"the first segment":          func(w *world) { must.Do(t, os.Remove(w.file("000000000001.log.zst"))) },
		"a segment in the middle":    func(w *world) { must.Do(t, os.Remove(w.file("000000000002.log.zst"))) },
		"the last segment":           func(w *world) { must.Do(t, os.Remove(w.file(last))) },
		"the whole log":              func(w *world) { must.Do(t, os.RemoveAll(filepath.Join(w.dir, "01"))) },
		"a segment is added":         func(w *world) { must.Do(t, os.WriteFile(w.file("000000000004.log"), w.read(t, last), 0o600)) },
		"segments are exchanged": func(w *world) {
			one, two := w.read(t, "000000000001.log.zst"), w.read(t, "000000000002.log.zst")
			must.Do(t, os.WriteFile(w.file("000000000001.log.zst"), two, 0o600))
			must.Do(t, os.WriteFile(w.file("000000000002.log.zst"), one, 0o600))
		},
		"a beginning without a signature": func(w *world) {
			must.Do(t, os.Remove(w.file("000000000001.log.zst")))
			must.Do(t, os.WriteFile(w.file("beginning.json"), []byte(`{"log":"x","segment":2,"prev":"","at":"","signature":""}`), 0o600))
		},
		"another log": func(w *world) {
			other := threeSegments(t)
			must.Do(t, os.WriteFile(w.file(last), other.read(t, last), 0o600))
		},
		"another key": func(w *world) { w.secrets = [][]byte{bytes.Repeat([]byte{1}, 32)} },
	} {
		c := w.copyOf(t)
		change(c)
		if r := c.verify(t); len(r.Findings) == 0 {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %s", name, r.Findings[0])
		}
	}
}

// TestAChangedByteIsFound: any byte of an open segment; of a compressed one any that changes its text.
func TestAChangedByteIsFound(t *testing.T) {
	w := threeSegments(t)
	for _, name := range []string{"000000000003.log", "000000000002.log.zst"} {
		text := w.read(t, name)
		step := max(1, len(text)/150)
		for i := 0; i < len(text); i += step {
			changed := slices.Clone(text)
			changed[i] ^= 0x04
			must.Do(t, os.WriteFile(w.file(name), changed, 0o600))
			if r := w.verify(t); len(r.Findings) == 0 && (strings.HasSuffix(name, ".log") || fmt.Sprint(w.ids(t)) != fmt.Sprint(idsTo(30))) {
				t.Errorf("%s: byte %d", name, i)
			}
		}
		must.Do(t, os.WriteFile(w.file(name), text, 0o600))
	}
}

func idsTo(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("id-%06d", i))
	}
	return out
}

// TestForgedRecordIsFound: somebody who writes a whole segment anew, with its hashes, has no key for its
// end, and no head for one without an end.
func TestForgedRecordIsFound(t *testing.T) {
	w := threeSegments(t)
	forger := newWorld(t)
	forger.secrets = [][]byte{bytes.Repeat([]byte{2}, 32)}
	must.Do(t, os.CopyFS(forger.dir, os.DirFS(w.dir)))
	must.Do(t, os.Remove(forger.file("000000000003.log")))
	l := forger.open(t)
	record(t, l, 20, 29) // one less
	must.Do(t, l.Close())
	must.Do(t, os.WriteFile(w.file("000000000003.log"), forger.read(t, "000000000003.log"), 0o600))
	r := w.verify(t)
	if said := fmt.Sprint(r.Findings); !strings.Contains(said, "no valid signature") || !strings.Contains(said, "the store knows") {
		t.Errorf("%v", r.Findings)
	}
}

// headAt has the store know the first segment up to these lines.
func (w *world) headAt(t *testing.T, text []byte) {
	t.Helper()
	all := bytes.Split(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'})
	for log, head := range w.heads.byLog {
		head.Segment, head.Line, head.Hash = 1, int64(len(all)), decisionlog.Hash(all[len(all)-1])
		w.heads.byLog[log] = decisionlog.Sign(w.secrets, head)
	}
}

// TestACrashLosesNothingThatWasTold: wherever the last write is cut off, a start mends the log, and what
// was whole is there.
func TestACrashLosesNothingThatWasTold(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 5)
	must.Do(t, l.Close())
	whole := w.read(t, "000000000001.log")
	whole = whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1] // without its end, as after a crash
	before := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1     // the last line is the one that was being written
	w.headAt(t, whole[:before])
	for cut := before; cut <= len(whole); cut += 7 {
		c := newWorld(t)
		c.heads.byLog = maps.Clone(w.heads.byLog)
		must.Do(t, os.MkdirAll(filepath.Join(c.dir, "01"), 0o700))
		must.Do(t, os.WriteFile(c.file("000000000001.log"), whole[:cut], 0o600))
		l := c.open(t)
		record(t, l, 100, 102)
		must.Do(t, l.Close())
		want := append(idsTo(4), "id-000100", "id-000101")
		if cut == len(whole) {
			want = slices.Insert(want, 4, "id-000004")
		}
		if got := c.ids(t); !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %v", cut, got)
		}
		c.wantWhole(t, int64(len(want)))
		if cut > before && cut < len(whole) && !bytes.Equal(c.read(t, "000000000001.torn"), whole[before:cut]) {
			t.Errorf("cut at %d: the tail was not set aside", cut)
		}
	}
}

// TestMoreThanATornTailIsNoMending: a start that finds a changed line before the head says so, and so
// does verify ever after.
func TestMoreThanATornTailIsNoMending(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 9)
	must.Do(t, l.Close())
	text := w.read(t, "000000000001.log")
	text = bytes.Replace(text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1], []byte("id-000004"), []byte("id-000044"), 1)
	must.Do(t, os.WriteFile(w.file("000000000001.log"), text, 0o600))
	must.Do(t, w.open(t).Close())
	if !strings.Contains(w.said.text, "decisions are missing") {
		t.Errorf("the log said %s", w.said.text)
	}
	if r := w.verify(t); len(r.Findings) == 0 && r.EndKnown {
		t.Error("verify finds nothing")
	}
}

// TestOneLineLessAfterACrashIsFound guarantees that Verify misses a line removed after a crash. The end written by the
// next start does not replace it.
func TestOneLineLessAfterACrashIsFound(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 5)
	must.Do(t, l.Close())
	lines := bytes.SplitAfter(w.read(t, "000000000001.log"), []byte{'\n'})
	lines = lines[:len(lines)-2] // without its end, as after a crash
	w.headAt(t, bytes.Join(lines, nil))
	for name, isFound := range map[string]bool{"whole": false, "one line less": true} {
		c := w.copyOf(t)
		c.heads, c.said = &heads{byLog: maps.Clone(w.heads.byLog)}, &said{}
		rest := lines
		if isFound {
			rest = lines[:len(lines)-1]
		}
		must.Do(t, os.WriteFile(c.file("000000000001.log"), bytes.Join(rest, nil), 0o600))
		must.Do(t, c.open(t).Close())
		if got := strings.Contains(c.said.text, "decisions are missing"); got != isFound {
			t.Errorf("%s: the log said %q", name, c.said.text)
		}
		if r := c.verify(t); (len(r.Findings) > 0) != isFound {
			t.Errorf("%s: verify finds %v", name, r.Findings)
		}
	}
}

// TestALogOfWhichOnlyTheBeginningIsLeftIsNotWhole: a start goes on behind the beginning, and tells of the
// segments that are gone.
func TestALogOfWhichOnlyTheBeginningIsLeftIsNotWhole(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Size = 100 << 10 }
	l := w.open(t)
	recordMany(t, l, 6000)
	must.Do(t, l.Close())
	names := must.Get(readDir(filepath.Join(w.dir, "01")))(t)
	for _, name := range names {
		if name != "beginning.json" {
			must.Do(t, os.Remove(w.file(name)))
		}
	}
	must.Do(t, w.open(t).Close())
	if !strings.Contains(w.said.text, "decisions are missing") {
		t.Errorf("the log said %q", w.said.text)
	}
	if r := w.verify(t); len(r.Findings) == 0 {
		t.Error("verify finds nothing")
	}
}

// TestWithoutTheStoreTheEndIsUnknown.
func TestWithoutTheStoreTheEndIsUnknown(t *testing.T) {
	w := threeSegments(t)
	must.Do(t, os.Remove(w.file("000000000003.log")))
	r, err := decisionlog.Verify(t.Context(), w.dir, decisionlog.VerifyOptions{Secrets: w.secrets})
	if err != nil || r.EndKnown || len(r.Findings) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestALineThatOnlyLooksLikeARecordIsNone: reading goes on behind it.
func TestALineThatOnlyLooksLikeARecordIsNone(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 2)
	must.Do(t, l.Close())
	text := bytes.Replace(w.read(t, "000000000001.log"), []byte("\n"), []byte("\n"+`{"prev":"x","told":null,"lost":{"verdicts":1,"at":""}}`+"\n"), 1)
	must.Do(t, os.WriteFile(w.file("000000000001.log"), text, 0o600))
	for name, read := range map[string]func(context.Context, decisionlog.Filter, func(*decisionlog.Record) error) error{
		"newest": decisionlog.Reader{Dir: w.dir}.Newest, "oldest": decisionlog.Reader{Dir: w.dir}.Oldest,
	} {
		count := 0
		if err := read(t.Context(), decisionlog.Filter{}, func(*decisionlog.Record) error { count++; return nil }); err != nil || count != 2 {
			t.Errorf("%s: %d, %v", name, count, err)
		}
	}
}

// TestAHeadOfSomebodyWithoutAKeyIsFound: somebody who can write the folder and the store rewrites the open segment and its
// head. Verify finds it at once, and after a start, which goes on behind what it finds.
func TestAHeadOfSomebodyWithoutAKeyIsFound(t *testing.T) {
	w := newWorld(t)
	for n := range 2 {
		l := w.open(t)
		record(t, l, 10*n, 10*n+5)
		must.Do(t, l.Close())
	}
	const open = "000000000002.log"
	text := w.read(t, open)
	text = text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1] // as after a crash
	must.Do(t, os.WriteFile(w.file(open), text, 0o600))
	w.headIs(t, 2, text)
	w.wantWhole(t, 10)
	older := bytes.Replace(text, []byte(`,"signs_heads":true`), nil, 1)
	for name, forge := range map[string]func(w *world){
		"the signature of the former head": func(w *world) {
			w.forge(t, open, bytes.Replace(text, []byte("id-000012"), []byte("id-000099"), 1), func(h decisionlog.Head) decisionlog.Head { return h })
		},
		"no signature": func(w *world) {
			w.forge(t, open, bytes.Replace(text, []byte("id-000012"), []byte("id-000099"), 1), unsigned)
		},
		"as an older version": func(w *world) { w.forge(t, open, older, unsigned) },
		"another key": func(w *world) {
			w.forge(t, open, text, func(h decisionlog.Head) decisionlog.Head {
				return decisionlog.Sign([][]byte{bytes.Repeat([]byte{2}, 32)}, h)
			})
		},
		"no head": func(w *world) {
			w.forge(t, open, older, unsigned)
			clear(w.heads.byLog)
		},
		"cut off to the last signed end": func(w *world) {
			must.Do(t, os.Remove(w.file(open)))
			end := w.closed(t, "000000000001.log.zst")
			w.headIs(t, 1, end)
			for log, h := range w.heads.byLog {
				w.heads.byLog[log] = unsigned(h)
			}
		},
	} {
		c := w.copyOf(t)
		c.heads, c.said = &heads{byLog: maps.Clone(w.heads.byLog)}, &said{}
		forge(c)
		if r := c.verify(t); len(r.Findings) == 0 {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %s", name, r.Findings[0])
		}
		must.Do(t, c.open(t).Close())
		if r := c.verify(t); len(r.Findings) == 0 || !strings.Contains(c.said.text, "decisions are missing") {
			t.Errorf("%s: not found after a start: %s", name, c.said.text)
		}
	}
}

func unsigned(h decisionlog.Head) decisionlog.Head {
	h.Signature = ""
	return h
}

// headIs has the store know the log up to these lines of a segment.
func (w *world) headIs(t *testing.T, segment int64, text []byte) {
	t.Helper()
	w.headAt(t, text)
	for log, h := range w.heads.byLog {
		h.Segment = segment
		w.heads.byLog[log] = decisionlog.Sign(w.secrets, h)
	}
}

// forge writes these lines with the hashes that they need, and a head of them.
func (w *world) forge(t *testing.T, name string, text []byte, sign func(decisionlog.Head) decisionlog.Head) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'})
	for i := 1; i < len(lines); i++ {
		_, rest, _ := bytes.Cut(lines[i], []byte(`","`))
		lines[i] = slices.Concat([]byte(`{"prev":"`+decisionlog.Hash(lines[i-1])+`","`), rest)
	}
	must.Do(t, os.WriteFile(w.file(name), append(bytes.Join(lines, []byte{'\n'}), '\n'), 0o600))
	for log, h := range w.heads.byLog {
		h.Hash = decisionlog.Hash(lines[len(lines)-1])
		w.heads.byLog[log] = sign(h)
	}
}

// closed returns the lines of a compressed segment.
func (w *world) closed(t *testing.T, name string) []byte {
	t.Helper()
	unpacked := must.Get(zstd.NewReader(bytes.NewReader(w.read(t, name))))(t)
	defer unpacked.Close()
	return must.Get(io.ReadAll(unpacked))(t)
}

// TestACopyOfALogIsFound: its records are not counted a second time.
func TestACopyOfALogIsFound(t *testing.T) {
	w := threeSegments(t)
	must.Do(t, os.CopyFS(filepath.Join(w.dir, "02"), os.DirFS(filepath.Join(w.dir, "01"))))
	if r := w.verify(t); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].String(), "is in two folders, 01 and 02") || r.Records != 30 {
		t.Errorf("%+v", r)
	}
}

// TestWithoutAKeyTheChainIsChecked, and no signature.
func TestWithoutAKeyTheChainIsChecked(t *testing.T) {
	w := threeSegments(t)
	w.secrets = nil
	w.wantWhole(t, 30)
	text := w.read(t, "000000000003.log")
	must.Do(t, os.WriteFile(w.file("000000000003.log"), bytes.Replace(text, []byte("id-000022"), []byte("id-000099"), 1), 0o600))
	if r := w.verify(t); len(r.Findings) == 0 {
		t.Error("a changed byte is not found")
	}
}
