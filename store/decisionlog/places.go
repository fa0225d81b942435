package decisionlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Places are how far logs are read, by their ids. They are of one reading: newest first, or forward.
type Places map[string]position

// Clone returns a copy.
func (p Places) Clone() Places { return maps.Clone(p) }

// In returns the places of these logs, and those without a place before.
func (p Places) In(logs, former Places) Places {
	out := p.Clone()
	maps.DeleteFunc(out, func(log string, _ position) bool {
		_, listed := logs[log]
		_, placed := former[log]
		return placed && !listed
	})
	return out
}

// Advance moves each place forward to that of others, and takes the places of further logs.
func (p Places) Advance(more Places) {
	for log, pos := range more {
		if now := p[log]; !now.reaches(pos.Segment, pos.Offset) {
			p[log] = pos
		}
	}
}

// Passed returns the place at the record: before it where the newest come first, else behind it. The record is of a Page.
func (r *Record) Passed(newest bool) Places {
	if newest {
		return Places{r.Log: r.place}
	}
	return Places{r.Log: r.end}
}

// Place is where a decision stands in its log. Verify names the same place.
type Place struct {
	// Segment and Line count the decisions of all accounts. They are 0 for readers of one account.
	Segment int64 `json:"segment,omitzero"`
	Line    int64 `json:"line,omitzero"`
	// Hash is the hash of the line. The next line has it.
	Hash string `json:"hash"`
}

// Place returns where the record stands in its log, nil if its segment was removed. The record is not of Follow.
func (r *Record) Place() (*Place, error) {
	text, err := r.segment.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case int64(len(text)) < r.end.Offset:
		return nil, err
	}
	line := bytes.TrimSuffix(text[r.place.Offset:r.end.Offset], []byte{'\n'})
	return &Place{r.place.Segment, int64(bytes.Count(text[:r.place.Offset], []byte{'\n'})) + 1, hash(line)}, nil
}

// Least returns the places of several readings from the same places, of each log the one that was read least far.
func Least(newest bool, all ...Places) Places {
	out := Places{}
	for _, p := range all {
		for log, pos := range p {
			now, placed := out[log]
			if !placed || now.reaches(pos.Segment, pos.Offset) != newest {
				out[log] = pos
			}
		}
	}
	return out
}

// Ends returns the places behind the last whole lines of all logs.
func (r Reader) Ends() (Places, error) {
	logs, err := r.logs()
	if err != nil {
		return nil, err
	}
	ends := Places{}
	for _, l := range logs {
		if ends[l.id], err = l.last.end(); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

type logFolder struct {
	dir, id string
	last    segment
}

// logs returns the logs that have segments.
func (r Reader) logs() (out []logFolder, err error) {
	dirs, err := logsIn(r.Dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		all, err := segmentsOf(dir)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			continue
		}
		l := logFolder{dir: dir, last: all[len(all)-1]}
		if l.id, err = logOf(all); err != nil {
			return nil, err
		}
		if l.id != "" { // its first segment is being made
			out = append(out, l)
		}
	}
	return out, nil
}

// log returns the id of the segment's log, "" if its first line can't be read.
func (s segment) log() (id string, err error) {
	f, packed, err := s.open()
	if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	reader := io.Reader(f)
	if packed {
		unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return "", err
		}
		defer unpacked.Close()
		reader = unpacked
	}
	raw, err := bufio.NewReader(io.LimitReader(reader, mostEnd)).ReadBytes('\n')
	if err != nil {
		return "", nil // a first line that is damaged or not yet whole names no log
	}
	first, err := readLine(bytes.TrimSuffix(raw, []byte{'\n'}))
	if err != nil || first.Start == nil {
		return "", nil // as above
	}
	return first.Start.Log, nil
}

// end returns the place behind the last whole line.
func (s segment) end() (position, error) {
	if s.packed {
		return position{Segment: s.number + 1}, nil
	}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) { // it was compressed meanwhile
		return position{Segment: s.number + 1}, nil
	} else if err != nil {
		return position{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	for length := int64(mostEnd); ; length *= 2 {
		begin := max(0, s.size-length)
		text, err := io.ReadAll(io.NewSectionReader(f, begin, s.size-begin))
		if err != nil {
			return position{}, err
		}
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 || begin == 0 {
			return position{Segment: s.number, Offset: begin + int64(i) + 1}, nil
		}
	}
}
