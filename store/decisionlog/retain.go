package decisionlog

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// packAll compresses closed segments, and removes segments beyond the log's size and age. One goroutine does so at a
// time.
func (w *writer) packAll() {
	w.packing <- struct{}{}
	defer func() { <-w.packing }()
	if err := w.tidy(); err != nil {
		w.o.Log.Error("the decision log can't be compressed or shortened", "error", err.Error())
	}
}

// tidy compresses closed segments and removes the oldest ones beyond the limits, also beside one that can't be compressed.
func (w *writer) tidy() error {
	all, err := segmentsOf(w.dir)
	if err != nil || len(all) == 0 {
		return err
	}
	closed := all[:len(all)-1] // the last one is being written
	var failed error
	for i, s := range closed {
		if s.packed {
			if err := removeIfThere(segmentPath(w.dir, s.number, openSuffix)); err != nil {
				return err
			}
			continue
		}
		if tail, err := s.rest(max(0, s.size-mostEnd)); err == nil {
			if e, read := ending(tail); read {
				w.ends[s.number] = e
			}
		}
		if err := s.pack(w.dir); err != nil {
			failed = err
			continue
		}
		if info, err := os.Stat(segmentPath(w.dir, s.number, closedSuffix)); err == nil {
			closed[i] = segment{number: s.number, path: segmentPath(w.dir, s.number, closedSuffix), size: info.Size(), packed: true}
		}
	}
	return errors.Join(failed, w.retain(closed, all[len(all)-1].size))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// retain removes the oldest segments until the log fits its size and its age. It leaves a signed
// beginning.
func (w *writer) retain(closed []segment, size int64) error {
	for _, s := range closed {
		size += s.size
	}
	for _, s := range closed {
		end, read := w.ends[s.number]
		if !read { // another process has compressed it
			var err error
			if end, err = s.ending(); err != nil {
				return err
			}
			w.ends[s.number] = end
		}
		tooOld := w.o.Now().Sub(end.closed) > w.o.Age
		if size <= w.o.Size && !tooOld {
			return nil
		}
		b := beginning{Log: w.log, Segment: s.number + 1, Prev: end.last, At: resources.At(w.o.Now()).String()}
		b.Signature = w.keys.sign(b.statement())
		raw, err := json.Marshal(&b)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(w.dir, beginFile), append(raw, '\n')); err != nil {
			return err
		}
		if err := os.Remove(s.path); err != nil {
			return err
		}
		delete(w.ends, s.number)
		size -= s.size
	}
	return nil
}

// ended is what retention knows of a closed segment.
type ended struct {
	// last is the hash of its last line, "" for a damaged one.
	last   string
	closed time.Time
}

// ending reads what retention has to know of the segment. Also a segment that is damaged gets old: by the time of its file.
func (s segment) ending() (ended, error) {
	text, err := s.read()
	if err != nil && !errors.Is(err, errDamaged) {
		return ended{}, err
	}
	if e, read := ending(text); read {
		return e, nil
	}
	info, statErr := os.Stat(s.path)
	if statErr != nil {
		return ended{}, statErr
	}
	e := ended{closed: info.ModTime()}
	if err == nil && len(text) > 0 {
		e.last = hash(lastLine(text))
	}
	return e, nil
}

// ending reads the end of a segment of these lines, false where they have none.
func ending(text []byte) (e ended, read bool) {
	raw := lastLine(text)
	l, err := readLine(raw)
	if err != nil || l.End == nil {
		return ended{}, false
	}
	closed, err := time.Parse(time.RFC3339, l.End.At)
	return ended{hash(raw), closed}, err == nil
}
