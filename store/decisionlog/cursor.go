package decisionlog

import (
	"errors"
	"fmt"
	"os"

	"github.com/portcullis-authz/portcullis/resources"
)

// position is a place in a log: so many bytes into the lines of a segment.
type position struct {
	Segment int64 `json:"segment"`
	Offset  int64 `json:"offset"`
}

// Record is a verdict as it was recorded.
type Record struct {
	// Log names the log, Version the program that wrote it.
	Log, Version string
	// At is when it was decided.
	At resources.Time
	// whole has a verdict whole, event one that was masked.
	whole   *record
	subject *resources.Subject
	event   *Event
	changed bool
	// segment has its line, which begins at place and ends at end. A record of Follow has none of them.
	segment    segment
	place, end position
}

// Judgement returns the verdict with its question and facts. It is nil if parts of the record were masked.
func (r *Record) Judgement() *resources.Judgement {
	if r.whole == nil || r.changed {
		return nil
	}
	return r.whole.judgement(r.subject)
}

// Event returns the record with its whole input, or without an input that can't be rendered.
func (r *Record) Event(input Input) Event {
	if r.event != nil {
		return *r.event
	}
	j := r.whole.judgement(r.subject)
	e, err := newEvent(r.Log, r.Version, j, input)
	if err != nil {
		e = erasedEvent(r.Log, r.Version, j, err)
	}
	if r.changed {
		e.credential()
	}
	return e
}

// segmentReader turns the lines of one segment into records. Lines are given to it in their order.
type segmentReader struct {
	start *start
	facts map[int64]*facts
	// find, unless nil, returns facts that are not in the map yet.
	find func(number int64) *facts
	// missing counts what the segment says of verdicts that it does not have.
	missing Missing
}

// Missing counts what a reading does not give.
type Missing struct {
	// Lost are verdicts that could not be written, by the log's own count. The policy tree dropped the Dropped ones.
	Lost, Dropped uint64
	// Unreadable are unreadable lines, and segments without a readable end.
	Unreadable uint64
}

func newSegmentReader() *segmentReader { return &segmentReader{facts: map[int64]*facts{}} }

var errNewer = errors.New("was written by a newer version of this program")

// line returns the record of a line, nil for one of another kind. The line after one that can't be read can be read.
func (s *segmentReader) line(raw []byte) (*Record, error) {
	l, err := readLine(raw)
	switch {
	case err != nil:
		return nil, err
	case l.Start != nil:
		if s.start = l.Start; s.start.Form > form {
			return nil, errNewer
		}
	case l.Facts != nil:
		s.facts[l.Facts.Number] = l.Facts
	case l.Lost != nil:
		s.missing.Lost += l.Lost.Verdicts
	case l.Dropped != nil:
		s.missing.Dropped += l.Dropped.Verdicts
	case l.Record != nil, l.Event != nil:
		return s.record(&l)
	}
	return nil, nil
}

// record returns the decision of a line with the facts that an earlier line of the segment has.
func (s *segmentReader) record(l *line) (*Record, error) {
	r := &Record{}
	if s.start != nil {
		r.Log, r.Version = s.start.Log, s.start.Version
	}
	if l.Event != nil {
		f := s.fact(l.Event.Facts)
		e, err := l.Event.whole(f)
		if err != nil {
			return nil, err
		}
		if l.Event.Changed || f != nil && f.Changed {
			e.credential()
		}
		r.event = &e
		return r, r.At.UnmarshalJSON([]byte(`"` + e.Timestamp + `"`))
	}
	r.whole, r.At, r.changed = l.Record, l.Record.Time.Time, l.Record.Changed
	if n := l.Record.Facts; n != 0 {
		f := s.fact(n)
		if f == nil || f.subject == nil {
			return nil, fmt.Errorf("record %s names facts that are not in its segment", l.Record.ID)
		}
		r.subject, r.changed = f.subject, r.changed || f.Changed
	}
	return r, nil
}

// fact returns the facts with a number, or nil.
func (s *segmentReader) fact(number int64) *facts {
	if s.facts[number] == nil && s.find != nil && number != 0 {
		s.facts[number] = s.find(number)
	}
	return s.facts[number]
}

// cursor reads a log forward, also while it is written.
type cursor struct {
	dir string
	// pos is behind what was read.
	pos    position
	reader *segmentReader
	// until, where it is not nil, is how far may be read.
	until func() *position
	// unreadable is called for each line and segment that the cursor skips because it can't be read.
	unreadable func(error)
}

func newCursor(dir string, pos position, unreadable func(error)) *cursor {
	return &cursor{dir: dir, pos: pos, unreadable: unreadable}
}

// errStop ends a reading without an error.
var errStop = errors.New("decisionlog: enough")

// read hands over what there is behind the cursor, and leaves the cursor behind what was taken. An
// error of fn ends it.
func (c *cursor) read(fn func(*Record) error) error {
	for {
		more, err := c.readSegment(fn)
		if err != nil || !more {
			return err
		}
	}
}

// readSegment reads on in one segment and says whether there is another one behind it.
func (c *cursor) readSegment(fn func(*Record) error) (more bool, err error) {
	all, err := segmentsOf(c.dir)
	if err != nil {
		return false, err
	}
	i := 0
	for i < len(all) && all[i].number < c.pos.Segment {
		i++
	}
	if i == len(all) {
		return false, nil
	}
	if all[i].number != c.pos.Segment {
		c.pos, c.reader = position{Segment: all[i].number}, nil
	}
	text, skip, err := c.text(all[i])
	switch {
	case errors.Is(err, os.ErrNotExist): // it was compressed or removed meanwhile
		c.reader = nil
		return true, nil
	case errors.Is(err, errDamaged):
		c.unreadable(err)
	case err != nil:
		return false, err
	}
	ended, err := c.lines(text, skip, i+1 < len(all), fn)
	if err != nil || !ended {
		return false, err
	}
	c.pos, c.reader = position{Segment: c.pos.Segment + 1}, nil
	return true, nil
}

// text returns what is to be read of a segment; the first skip bytes were read before, and only their
// facts are wanted.
func (c *cursor) text(s segment) (text []byte, skip int64, err error) {
	if c.reader == nil || s.packed {
		c.reader = newSegmentReader()
		text, err = s.read()
		return text, c.pos.Offset, err
	}
	text, err = s.rest(c.pos.Offset)
	return text, 0, err
}

// lines reads lines and says whether the segment has ended; closed says that nothing is written to it any more.
func (c *cursor) lines(text []byte, skip int64, closed bool, fn func(*Record) error) (ended bool, err error) {
	offset := c.pos.Offset - skip
	for len(text) > 0 {
		raw, rest, whole := nextLine(text)
		offset += int64(len(raw)) + 1
		if !whole && !closed || c.until != nil && !c.until().reaches(c.pos.Segment, offset) {
			return false, nil
		}
		text = rest
		r, err := c.reader.line(raw)
		if errors.Is(err, errNewer) {
			return false, fmt.Errorf("segment %d: %w", c.pos.Segment, err)
		}
		if offset <= c.pos.Offset {
			continue
		}
		switch {
		case err != nil:
			c.unreadable(fmt.Errorf("segment %d: %w", c.pos.Segment, err))
		case r != nil:
			if err := fn(r); err != nil {
				return false, err
			}
		}
		c.pos.Offset = offset
		_, kind := shape(raw)
		ended = string(kind) == "end"
	}
	return ended || closed, nil
}

// reaches says whether a place is not behind this one.
func (p *position) reaches(segment, offset int64) bool {
	return p != nil && (segment < p.Segment || segment == p.Segment && offset <= p.Offset)
}
