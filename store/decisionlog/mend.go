package decisionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	needsNoHead := len(all) == 0 && b == nil
	if n := len(all); n > 0 && all[n-1].number > w.number {
		if needsNoHead, err = w.resume(all, heads); err != nil {
			return fmt.Errorf("%s: %w", all[n-1].path, err)
		}
	}
	w.noteMissing(heads)
	if !needsNoHead {
		w.noteUnproved(heads)
	}
	if w.missing != nil {
		w.o.Log.Error("decisions are missing in the decision log, or may have been changed: `portcullis decisions verify` says where",
			"segment", w.missing.Segment, "line", w.missing.Line)
	}
	return nil
}

// removeTorn removes files that were not finished.
func (w *writer) removeTorn() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		if err := os.Remove(filepath.Join(w.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// noteMissing notes a head of the store that is behind the end of the log.
func (w *writer) noteMissing(heads []Head) {
	for _, h := range heads {
		if h.Log == w.log && (h.Segment > w.number || h.Segment == w.number && h.Line > w.lines) {
			w.missing = &missing{Segment: h.Segment, Line: h.Line, Hash: h.Hash}
		}
	}
}

// noteUnproved notes that the store has no signed head of the log: its end is unproved.
func (w *writer) noteUnproved(heads []Head) {
	if w.o.Heads == nil || w.missing != nil {
		return
	}
	for _, h := range heads {
		if h.Log == w.log && w.keys.signed(h.statement(), h.Signature) {
			return
		}
	}
	w.missing = &missing{Segment: w.number, Line: w.lines, Hash: w.last, Unproved: true}
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

// resume goes on behind the last of these segments, and closes it where nobody has. It reports whether the log is as it
// should be also without a head: it has only begun, or was closed by a program whose heads had no signature.
func (w *writer) resume(all []segment, heads []Head) (needsNoHead bool, err error) {
	s := all[len(all)-1]
	text, err := s.read()
	if err != nil && !errors.Is(err, errDamaged) {
		return false, err
	}
	w.number, w.lines = s.number, 0
	if w.log, err = logOf(all); err != nil {
		return false, err
	}
	if w.log == "" {
		w.log = logAt(text, s.number, heads)
	}
	if l, err := readLine(lastLine(text)); err == nil && l.End != nil { // it was closed
		signed := w.keys.signed(l.End.statement(w.log, l.Prev), l.End.Signature)
		w.last, w.lines = hash(lastLine(text)), l.End.Lines
		return signed && isOld(text) && w.headIsOld(heads), nil
	}
	size := w.follow(text, heads)
	w.noteMissing(heads) // before finish adds an end, which the store does not know
	begun := len(all) == 1 && s.number == 1 && w.lines <= 1
	if s.packed { // and damaged: what is behind that is gone
		return false, nil
	}
	return begun, w.finish(s, text, size)
}

// isOld says whether a program has written the segment whose heads had no signature.
func isOld(text []byte) bool {
	raw, _, _ := nextLine(text)
	l, err := readLine(raw)
	return err == nil && l.Start != nil && !l.Start.SignsHeads
}

// headIsOld says whether the store has the end of the log without a signature, or no head.
func (w *writer) headIsOld(heads []Head) bool {
	for _, h := range heads {
		if h.Log == w.log {
			return h.Signature == "" && h.Hash == w.last
		}
	}
	return true
}

// follow follows the chain through the lines of the last segment by their bytes, and returns where it ends. All
// lines up to the store's head were on disk, even if they are damaged now. Later lines can be torn.
func (w *writer) follow(text []byte, heads []Head) (size int) {
	flushed := int64(0)
	for _, h := range heads {
		if h.Log == w.log && h.Segment == w.number {
			flushed = h.Line
		}
	}
	for rest := text; len(rest) > 0; {
		raw, after, ended := nextLine(rest)
		prev, _ := shape(raw)
		follows := whole(raw) && (w.lines == 0 || string(prev) == w.last)
		if !ended || !follows && w.lines >= flushed {
			break
		}
		w.last, w.lines = hash(raw), w.lines+1
		for _, h := range heads {
			if h.Log == w.log && h.Segment == w.number && h.Line == w.lines && h.Hash != w.last {
				w.missing = &missing{Segment: h.Segment, Line: h.Line, Hash: h.Hash}
			}
		}
		size, rest = size+len(raw)+1, after
	}
	return size
}

// logOf returns the id of the log of these segments, from the newest one with a readable start.
func logOf(all []segment) (log string, err error) {
	for _, s := range slices.Backward(all) {
		if log, err = s.log(); err != nil || log != "" {
			return log, err
		}
	}
	return "", nil
}

// logAt returns the id of the log with a head in the segment, "" for none.
func logAt(text []byte, number int64, heads []Head) string {
	all := bytes.Split(text, []byte{'\n'})
	for _, h := range heads {
		if h.Segment == number && h.Line >= 1 && h.Line <= int64(len(all)) && h.Hash == hash(all[h.Line-1]) {
			return h.Log
		}
	}
	return ""
}

// finish closes a segment that was open when the process ended. The part behind its last whole line is
// kept in a file of its own: nobody has waited for it.
func (w *writer) finish(s segment, text []byte, size int) error {
	if size == 0 { // not even its first line is there
		w.number--
		if len(text) > 0 {
			if err := writeFile(strings.TrimSuffix(s.path, openSuffix)+tornSuffix, text); err != nil {
				return err
			}
		}
		return errors.Join(os.Remove(s.path), w.previous(s.number-1))
	}
	if size < len(text) {
		w.o.Log.Warn("the decision log was cut off in the middle of a write; what is not whole was set aside", "segment", s.number, "bytes", len(text)-size)
		if err := writeFile(strings.TrimSuffix(s.path, openSuffix)+tornSuffix, text[size:]); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Truncate(int64(size)); err != nil {
		return errors.Join(err, f.Close())
	}
	if _, err := f.Seek(int64(size), 0); err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.size, w.facts = f, int64(size), newFactsTable(0)
	return w.shut(int64(len(text) - size))
}

// previous finds the end of the segment before one without a first line.
func (w *writer) previous(number int64) error {
	all, err := segmentsOf(w.dir)
	if err != nil || len(all) == 0 || all[len(all)-1].number != number {
		return err
	}
	_, err = w.resume(all, nil)
	return err
}
