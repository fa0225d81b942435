package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mend brings the folder into order after a crash, and finds out where the log ends.
func (w *writer) mend(ctx context.Context) error {
	if err := w.removeTorn(); err != nil {
		return err
	}
	all, err := segmentsOf(w.dir)
	if err != nil {
		return err
	}
	b, err := readBeginning(w.dir)
	if err != nil {
		return err
	}
	heads, err := w.knownHeads(ctx)
	if err != nil {
		return err
	}
	if b != nil {
		w.log, w.last, w.number = b.Log, b.Prev, b.Segment-1
	}
	for _, s := range all {
		if b != nil && s.number < b.Segment { // a removal that was cut short
			if err := os.Remove(s.path); err != nil {
				return err
			}
		}
	}
	if n := len(all); n > 0 && all[n-1].number > w.number {
		if err := w.resume(all[n-1], heads); err != nil {
			return fmt.Errorf("%s: %w", all[n-1].path, err)
		}
	}
	w.noteMissing(heads)
	if w.missing != nil {
		w.o.Log.Error("decisions are missing in the decision log, or were changed: `portcullis decisions verify` says where",
			"segment", w.missing.Segment, "line", w.missing.Line)
	}
	return nil
}

// removeTorn removes files that were not finished.
func (w *writer) removeTorn() error {
	torn, err := filepath.Glob(filepath.Join(w.dir, "*.tmp"))
	if err != nil {
		return err
	}
	for _, path := range torn {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// noteMissing notes a head of the store that is behind the end of the log.
func (w *writer) noteMissing(heads []Head) {
	for _, h := range heads {
		if h.Log == w.log && (h.Segment > w.number || h.Segment == w.number && h.Line > w.lines) {
			w.missing = &h
		}
	}
}

// knownHeads returns the heads that the store has.
func (w *writer) knownHeads(ctx context.Context) ([]Head, error) {
	if w.o.Heads == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	return w.o.Heads.Heads(ctx)
}

// resume takes the last segment as far as it is whole, and closes it where nobody has.
func (w *writer) resume(s segment, heads []Head) error {
	text, err := s.read()
	if err != nil {
		return err
	}
	w.number = s.number
	if raw := lastLine(text); len(raw) > 0 {
		if l, err := readLine(raw); err == nil && l.End != nil { // it was closed
			w.last, w.lines = hash(raw), l.End.Lines
			return w.name(text)
		}
	}
	w.lines = 0
	at, rest := 0, text
	for len(rest) > 0 {
		raw, after, whole := nextLine(rest)
		l, err := readLine(raw)
		if !whole || err != nil || w.lines > 0 && l.Prev != w.last {
			break
		}
		w.last, w.lines = hash(raw), w.lines+1
		if l.Start != nil {
			w.log = l.Start.Log
		}
		for _, h := range heads {
			if h.Log == w.log && h.Segment == w.number && h.Line == w.lines && h.Hash != w.last {
				w.missing = &h
			}
		}
		at, rest = at+len(raw)+1, after
	}
	if s.packed {
		return errors.New("it was closed, and has no end: move the folder of this log away, or bring it back from the backup")
	}
	w.noteMissing(heads) // the end that finish adds is no line that the store knows
	return w.finish(s, text, at)
}

// name takes the log's id from a segment.
func (w *writer) name(text []byte) error {
	raw, _, _ := nextLine(text)
	l, err := readLine(raw)
	if err == nil && l.Start == nil {
		err = errForm
	}
	if err == nil {
		w.log = l.Start.Log
	}
	return err
}

// finish closes a segment that was open when the process ended. The part behind its last whole line is
// kept in a file of its own: nobody has waited for it.
func (w *writer) finish(s segment, text []byte, at int) error {
	if at == 0 { // not even its first line is there
		w.number--
		if len(text) > 0 {
			if err := writeFile(strings.TrimSuffix(s.path, openSuffix)+tornSuffix, text); err != nil {
				return err
			}
		}
		return errors.Join(os.Remove(s.path), w.previous(s.number-1))
	}
	if at < len(text) {
		w.o.Log.Warn("the decision log was cut off in the middle of a write; what is not whole was set aside", "segment", s.number, "bytes", len(text)-at)
		if err := writeFile(strings.TrimSuffix(s.path, openSuffix)+tornSuffix, text[at:]); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Truncate(int64(at)); err != nil {
		return errors.Join(err, f.Close())
	}
	if _, err := f.Seek(int64(at), 0); err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.size, w.facts = f, int64(at), newFactsTable(0)
	return w.shut(int64(len(text) - at))
}

// previous finds out where the segment ends before one that was never begun.
func (w *writer) previous(number int64) error {
	all, err := segmentsOf(w.dir)
	if err != nil || len(all) == 0 || all[len(all)-1].number != number {
		return err
	}
	return w.resume(all[len(all)-1], nil)
}
