package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// sortedWithin is by how many milliseconds the records of a log may be out of order: one has the time
// at which it was asked for.
const sortedWithin resources.Time = 60_000

// records yields the records of one log that a filter wants, the newest or the oldest first. It holds the text of one
// segment at a time, and decodes a line when its record is wanted next. An error is the last that it yields.
func (r Reader) records(ctx context.Context, dir string, f Filter, newest bool) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		all, err := segmentsOf(dir)
		if newest {
			slices.Reverse(all)
		}
		for i, s := range all {
			if err = ctx.Err(); err != nil {
				break
			}
			var reader *segmentReader
			var lines []recordLine
			if reader, lines, err = r.open(s); err != nil {
				break
			}
			if newest {
				slices.Reverse(lines)
			}
			for _, l := range lines {
				rec := r.look(reader, &f, s, &l, true)
				switch {
				case rec == nil: // it can't be read
				case f.Matches(rec):
					if !yield(step{Record: rec}, nil) {
						return
					}
				case newest && f.Since != 0 && rec.At < f.Since-sortedWithin:
					return // older ones are not wanted
				}
			}
			if r.Progress != nil {
				r.Progress(i+1, len(all))
			}
		}
		if err != nil {
			yield(step{}, err)
		}
	}
}

// recordLine is a line with a record, and where it begins and ends in its segment in bytes.
type recordLine struct {
	raw        []byte
	start, end int64
}

// linesOf yields the whole lines of a text.
func linesOf(text []byte) iter.Seq[recordLine] {
	return func(yield func(recordLine) bool) {
		rest := text
		for offset := int64(0); len(rest) > 0; {
			raw, after, whole := nextLine(rest)
			l := recordLine{raw, offset, offset + int64(len(raw)) + 1}
			if !whole || !yield(l) {
				return
			}
			rest, offset = after, l.end
		}
	}
}

// open returns the lines of a segment that are records. It reads the others at once: in whichever order records are
// wanted, the facts stand before them.
func (r Reader) open(s segment) (reader *segmentReader, records []recordLine, err error) {
	reader = newSegmentReader()
	text, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was removed by its age
		return reader, nil, nil
	case errors.Is(err, errDamaged):
		r.missing(Missing{Unreadable: 1})
	case err != nil:
		return nil, nil, err
	}
	for l := range linesOf(text) {
		if isRecord(l.raw) {
			records = append(records, l)
			continue
		}
		switch _, err := reader.line(l.raw); {
		case errors.Is(err, errNewer):
			return nil, nil, fmt.Errorf("%s: %w", filepath.Base(s.path), err)
		case err != nil:
			r.missing(Missing{Unreadable: 1})
		}
	}
	r.missing(reader.missing)
	return reader, records, nil
}
