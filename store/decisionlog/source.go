package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// source gives the records of one log that a filter wants, the newest or the oldest first. It reads one segment after
// the other, and turns a line into a record when it is asked for it.
type source struct {
	Reader
	filter Filter
	newest bool
	// segments are still to be read, and of the one that is being read lines. The next one is the first.
	segments []segment
	lines    [][]byte
	of       int // segments there are
	reading  segment
	reader   *segmentReader
}

func (r Reader) source(dir string, f Filter, newest bool) (*source, error) {
	all, err := segmentsOf(dir)
	if err != nil {
		return nil, err
	}
	if newest {
		slices.Reverse(all)
	}
	return &source{Reader: r, filter: f, newest: newest, segments: all, of: len(all)}, nil
}

// sortedWithin is by how many milliseconds the records of a log may be out of order: one has the time
// at which it was asked for.
const sortedWithin resources.Time = 60_000

// next returns the next record, nil behind the last one. It ends with the context, also where nothing is found.
func (s *source) next(ctx context.Context) (*Record, error) {
	for {
		if len(s.lines) == 0 {
			if s.reader != nil && s.Progress != nil {
				s.Progress(s.of-len(s.segments), s.of)
			}
			if len(s.segments) == 0 {
				return nil, nil
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := s.open(); err != nil {
				return nil, err
			}
			continue
		}
		rec, err := s.reader.line(s.lines[0])
		s.lines = s.lines[1:]
		switch {
		case err != nil:
			s.missing(Missing{Unreadable: 1})
		case rec == nil: // which no log has that is whole
		case s.filter.Matches(rec):
			return rec, nil
		case s.newest && s.filter.Since != 0 && rec.At < s.filter.Since-sortedWithin:
			s.lines, s.segments = nil, nil // older ones are not wanted
		}
	}
}

// open reads the next segment. Lines that are no records are read at once: in whichever order records are wanted, the
// facts stand before them.
func (s *source) open() error {
	s.reading, s.segments = s.segments[0], s.segments[1:]
	s.reader = newSegmentReader()
	text, err := s.reading.read()
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was removed by its age
		return nil
	case errors.Is(err, errDamaged):
		s.missing(Missing{Unreadable: 1})
	case err != nil:
		return err
	}
	for len(text) > 0 {
		raw, rest, whole := nextLine(text)
		if text = rest; !whole {
			break
		}
		if _, kind := shape(raw); kind == "told" || kind == "event" {
			s.lines = append(s.lines, raw)
			continue
		}
		switch _, err := s.reader.line(raw); {
		case errors.Is(err, errNewer):
			return fmt.Errorf("%s: %w", filepath.Base(s.reading.path), err)
		case err != nil:
			s.missing(Missing{Unreadable: 1})
		}
	}
	if s.newest {
		slices.Reverse(s.lines)
	}
	s.missing(s.reader.missing)
	return nil
}
