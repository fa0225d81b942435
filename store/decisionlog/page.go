package decisionlog

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Page is what a search has found so far.
type Page struct {
	Records []*Record
	// Places are how far it has looked.
	Places Places
	// More says that the logs may have more behind them.
	More bool
}

// Search says what a page has.
type Search struct {
	Filter
	// Size is how many records it has at most. Deadline is when the search ends, with what it has by then.
	Size     int
	Deadline time.Time
	// Began bounds what comes of logs without a place, where it is not 0: before the places what is older, behind them
	// what is newer.
	Began resources.Time
	// Floor, unless nil, ends a search for the newest: it takes what is behind these places, of a log without a floor what
	// is newer than Began, and nothing of a log without a place.
	Floor Places
}

// bounds returns the filter for a log, and where its reading begins.
func (s *Search) bounds(log string, begin Places, newest bool) (*Filter, position) {
	place, placed := begin[log]
	f := s.Filter
	_, floored := s.Floor[log]
	switch {
	case s.Floor != nil && !floored:
		f.Since = max(f.Since, s.Began)
	case placed, s.Floor != nil:
	case newest:
		place = position{Segment: math.MaxInt64}
		if s.Began != 0 && (f.Until == 0 || f.Until > s.Began) {
			f.Until = s.Began
		}
	default:
		f.Since = max(f.Since, s.Began)
	}
	return &f, place
}

// Before returns the newest records before the places, the newest first. A log without a place is read from its end.
func (r Reader) Before(ctx context.Context, s Search, begin Places) (Page, error) {
	return r.page(ctx, s, begin, true)
}

// After returns the oldest records behind the places, the oldest first. A log without a place is read from its beginning.
func (r Reader) After(ctx context.Context, s Search, begin Places) (Page, error) {
	return r.page(ctx, s, begin, false)
}

// step is a line of a search; Record is nil for an unwanted one.
type step struct {
	*Record
	place position
}

// paged is the reading of one log for a page.
type paged struct {
	id    string
	next  func() (step, error, bool)
	now   *step
	ended bool
}

func (r Reader) page(ctx context.Context, s Search, begin Places, newest bool) (Page, error) {
	logs, err := r.logs()
	if err != nil {
		return Page{}, err
	}
	page := Page{Places: begin.Clone()}
	if page.Places == nil {
		page.Places = Places{}
	}
	var all []*paged
	for _, l := range logs {
		f, place := s.bounds(l.id, begin, newest)
		lines := r.forward(ctx, l.dir, f, place)
		if newest {
			lines = r.backward(ctx, l.dir, f, place, s.Floor[l.id])
		}
		next, stop := iter.Pull2(lines)
		defer stop()
		all = append(all, &paged{id: l.id, next: next})
	}
	for {
		first, err := page.first(ctx, all, s.Deadline, newest)
		switch {
		case err != nil:
			return Page{}, err
		case first == nil:
			return page, nil
		case len(page.Records) == s.Size:
			page.More = true
			return page, nil
		}
		page.Records, page.Places[first.id] = append(page.Records, first.now.Record), first.now.place
		first.now = nil
	}
}

// first returns the log whose record comes next, nil at the end and when the time is over. A zero deadline sets no time.
func (p *Page) first(ctx context.Context, all []*paged, deadline time.Time, newest bool) (first *paged, err error) {
	for _, l := range all {
		for l.now == nil && !l.ended {
			if !deadline.IsZero() && time.Now().After(deadline) {
				p.More = true
				return nil, ctx.Err()
			}
			line, err, more := l.next()
			switch {
			case err != nil:
				return nil, err
			case !more:
				l.ended = true
			case line.Record == nil:
				p.Places[l.id] = line.place
			default:
				l.now = &line
			}
		}
		if l.now != nil && (first == nil || newest && l.now.At > first.now.At || !newest && l.now.At < first.now.At) {
			first = l
		}
	}
	return first, ctx.Err()
}

// backward yields the lines of a log before a place and behind a floor, the last first.
func (r Reader) backward(ctx context.Context, dir string, f *Filter, limit, floor position) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		all, err := segmentsOf(dir)
		for _, s := range slices.Backward(all) {
			if err = ctx.Err(); err != nil {
				break
			}
			if s.number > limit.Segment || s.number == limit.Segment && limit.Offset == 0 {
				continue
			}
			if s.number < floor.Segment {
				break
			}
			part := span{0, math.MaxInt64}
			if s.number == limit.Segment {
				part.end = limit.Offset
			}
			if s.number == floor.Segment {
				part.start = floor.Offset
			}
			var more bool
			if more, err = r.backwardIn(s, f, part, yield); err != nil || !more {
				break
			}
			if !yield(step{place: position{Segment: s.number}}, nil) {
				return
			}
		}
		if err != nil {
			yield(step{}, err)
		}
	}
}

// backwardIn yields the lines of a part of a segment, the last first. more is false if no older ones are wanted.
func (r Reader) backwardIn(s segment, f *Filter, part span, yield func(step, error) bool) (more bool, err error) {
	reader, blocks, err := r.blocks(s, part)
	if err != nil {
		return false, err
	}
	newest := true
	for lines, err := range blocks {
		if err != nil {
			return false, err
		}
		for _, l := range slices.Backward(lines) {
			rec := r.look(reader, f, s, &l, newest)
			if newest = false; rec != nil && f.Since != 0 && rec.At < f.Since-sortedWithin {
				return false, nil
			}
			if !yield(f.step(rec, position{s.number, l.start}), nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// blocks returns the records of a part of a segment, in blocks with the last one first.
func (r Reader) blocks(s segment, part span) (*segmentReader, iter.Seq2[[]recordLine, error], error) {
	g, err := r.openGrowing(s)
	if err != nil {
		return nil, nil, err
	}
	if g != nil {
		return g.reader, func(yield func([]recordLine, error) bool) {
			defer g.close()
			g.backward(part)(yield)
		}, nil
	}
	reader, lines, err := r.open(s)
	if err != nil {
		return nil, nil, err
	}
	lines = slices.DeleteFunc(lines, func(l recordLine) bool { return l.start < part.start || l.end > part.end })
	return reader, func(yield func([]recordLine, error) bool) { yield(lines, nil) }, nil
}

// forward yields the lines of a log behind a place.
func (r Reader) forward(ctx context.Context, dir string, f *Filter, start position) iter.Seq2[step, error] {
	return func(yield func(step, error) bool) {
		all, err := segmentsOf(dir)
		if len(all) > 0 && start.Segment > 0 && start.Segment < all[0].number {
			r.missing(Missing{Unreadable: 1}) // what was there is removed by its age
		}
		for i, s := range all {
			if err = ctx.Err(); err != nil {
				break
			}
			if s.number < start.Segment {
				continue
			}
			var offset int64
			if s.number == start.Segment {
				offset = start.Offset
			}
			place, more, err := r.forwardIn(s, f, offset, yield)
			if err != nil {
				yield(step{}, err)
				return
			}
			if i+1 < len(all) || s.packed {
				place = position{Segment: s.number + 1}
			}
			if !more || !yield(step{place: place}, nil) {
				return
			}
		}
		if err != nil {
			yield(step{}, err)
		}
	}
}

// forwardIn yields the lines of a segment behind an offset, and returns the place behind the last one. It reads what
// was read before only if it needs the facts there.
func (r Reader) forwardIn(s segment, f *Filter, offset int64, yield func(step, error) bool) (end position, more bool, err error) {
	end = position{s.number, offset}
	var text []byte
	if !s.packed {
		text, err = s.rest(offset)
		if errors.Is(err, fs.ErrNotExist) { // it was compressed or removed meanwhile: the next reading sees which
			return end, false, nil
		} else if err != nil {
			return end, false, err
		}
		wanted := false
		for l := range linesOf(text) {
			wanted = wanted || f.mayWant(l.raw)
			end.Offset = offset + l.end
		}
		if !wanted {
			return end, true, nil
		}
	}
	reader, lines, done, err := r.recordsAfter(s, text, offset)
	if err != nil {
		return end, false, err
	}
	defer done()
	for _, l := range lines {
		end.Offset = l.end
		if !yield(f.step(r.look(reader, f, s, &l, false), end), nil) {
			return end, false, nil
		}
	}
	return end, true, nil
}

// recordsAfter returns the records of a segment behind an offset. text is what stands there in a growing segment. The caller
// calls done after the last record.
func (r Reader) recordsAfter(s segment, text []byte, offset int64) (reader *segmentReader, lines []recordLine, done func(), err error) {
	g, err := r.openGrowing(s)
	if err != nil {
		return nil, nil, nil, err
	}
	if g != nil {
		return g.reader, recordsOf(text, offset), g.close, nil
	}
	reader, lines, err = r.open(s)
	return reader, slices.DeleteFunc(lines, func(l recordLine) bool { return l.start < offset }), func() {}, err
}

// openGrowing opens an uncompressed segment with its index, and reports the records missing in it. It returns nil without an
// index, and for a segment that was compressed or removed.
func (r Reader) openGrowing(s segment) (*growing, error) {
	if r.Index == nil || s.packed {
		return nil, nil
	}
	g, err := r.Index.open(s)
	switch {
	case errors.Is(err, fs.ErrNotExist): // compressed or removed meanwhile
		return nil, nil
	case err != nil:
		return nil, err
	}
	r.missing(g.reader.missing)
	return g, nil
}

// look returns the record of a line, nil for one that the filter can't want.
func (r Reader) look(reader *segmentReader, f *Filter, s segment, l *recordLine, always bool) *Record {
	if !always && !f.mayWant(l.raw) {
		return nil
	}
	rec, err := reader.line(l.raw)
	if err != nil {
		r.missing(Missing{Unreadable: 1})
		return nil
	}
	if rec != nil {
		rec.segment, rec.place, rec.end = s, position{s.number, l.start}, position{s.number, l.end}
	}
	return rec
}

// step returns the line at which the search has looked.
func (f *Filter) step(rec *Record, place position) step {
	if rec != nil && !f.Matches(rec) {
		rec = nil
	}
	return step{rec, place}
}
