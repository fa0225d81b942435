package decisionlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
)

// Index caches the places of facts in growing segments. With it a Reader parses only the lines near those that a page
// wants, and not the whole segment. An Index takes about 50 bytes for each line of facts. It is safe for concurrent use.
type Index struct {
	mu       sync.Mutex
	segments map[string]*indexed // by path
}

// mostIndexed limits the indexed segments. A log has one growing segment, and sometimes one that waits for compression.
const mostIndexed = 16

// indexed is the indexed part of a growing segment.
type indexed struct {
	file  fs.FileInfo
	facts map[int64]span
	// end is the offset behind the last indexed line.
	end    int64
	reader *segmentReader
}

// span is a part of a segment.
type span struct{ start, end int64 }

// growing is a segment that is not compressed, open for reading.
type growing struct {
	file   *os.File
	size   int64
	reader *segmentReader
}

func (g *growing) close() { _ = g.file.Close() } // it was only read

// open opens a growing segment and indexes the lines that it got since the last call. The error is fs.ErrNotExist for a
// segment that was compressed or removed. The caller closes the file.
func (x *Index) open(s segment) (g *growing, err error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it was only read
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	one := x.segments[s.path]
	if one == nil || !os.SameFile(one.file, info) || info.Size() < one.end {
		one = &indexed{file: info, facts: map[int64]span{}, reader: newSegmentReader()}
	}
	if err := one.grow(file, info.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(s.path), err)
	}
	if len(x.segments) == 0 || len(x.segments) >= mostIndexed && x.segments[s.path] == nil {
		x.segments = map[string]*indexed{}
	}
	x.segments[s.path] = one
	reader := newSegmentReader()
	reader.start, reader.missing = one.reader.start, one.reader.missing
	reader.find = func(number int64) *facts {
		x.mu.Lock()
		place, ok := one.facts[number]
		x.mu.Unlock()
		if !ok {
			return nil
		}
		raw := make([]byte, place.end-place.start)
		if _, err := file.ReadAt(raw, place.start); err != nil {
			return nil
		}
		l, err := readLine(raw)
		if err != nil {
			return nil
		}
		return l.Facts
	}
	return &growing{file, info.Size(), reader}, nil
}

// grow indexes the whole lines up to a size.
func (x *indexed) grow(file io.ReaderAt, size int64) error {
	text, err := io.ReadAll(io.NewSectionReader(file, x.end, size-x.end))
	if err != nil {
		return err
	}
	begin := x.end
	for l := range linesOf(text) {
		x.end = begin + l.end
		if isRecord(l.raw) {
			continue
		}
		switch _, err := x.reader.line(l.raw); {
		case errors.Is(err, errNewer):
			return err
		case err != nil:
			x.reader.missing.Unreadable++
		}
		for number := range x.reader.facts {
			x.facts[number] = span{begin + l.start, begin + l.end - 1}
		}
		clear(x.reader.facts)
	}
	return nil
}

// isRecord reports whether a line has a decision.
func isRecord(raw []byte) bool {
	_, kind := shape(raw)
	return string(kind) == "told" || string(kind) == "event"
}

// firstBlock is the size of the last block of a segment, in bytes. Each block before it is twice as large, since a page
// that needs more than one may need many.
const firstBlock = 64 << 10

// backward yields the records in a part, which begins with a line, in blocks. The last block comes first.
func (g *growing) backward(part span) iter.Seq2[[]recordLine, error] {
	return func(yield func([]recordLine, error) bool) {
		end, size := min(part.end, g.size), int64(firstBlock)
		for end > part.start {
			begin := max(part.start, end-size)
			size *= 2
			text := make([]byte, end-begin)
			if _, err := g.file.ReadAt(text, begin); err != nil {
				yield(nil, err)
				return
			}
			if begin > part.start { // the block may begin inside a line
				i := int64(bytes.IndexByte(text, '\n')) + 1
				text, begin = text[i:], begin+i
			}
			if !yield(recordsOf(text, begin), nil) {
				return
			}
			end = begin
		}
	}
}

// recordsOf returns the whole lines with decisions of a text that begins at an offset.
func recordsOf(text []byte, begin int64) (records []recordLine) {
	for l := range linesOf(text) {
		if isRecord(l.raw) {
			records = append(records, recordLine{l.raw, l.start + begin, l.end + begin})
		}
	}
	return records
}
