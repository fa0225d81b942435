package decisionlog

import (
	"io/fs"

	"github.com/portcullis-authz/portcullis/resources"
)

// Lines returns the lines of a segment that has these verdicts, without a file.
func Lines(o Options, verdicts ...*resources.Judgement) ([]byte, error) {
	w := &writer{Log: &Log{o: o, keys: newKeys(o.Secrets)}, log: "log", facts: newFactsTable(0)}
	if err := w.add(line{Start: &start{Segment: 1, Log: w.log, Form: form, Version: o.Version}}); err != nil {
		return nil, err
	}
	for _, j := range verdicts {
		if err := w.addVerdict(j); err != nil {
			return nil, err
		}
	}
	return w.buf.Bytes(), nil
}

// Records reads the lines of a segment; an error is of a line that can't be read, or does not follow the one before it.
func Records(text []byte) (out []*Record, err error) {
	reader, last := newSegmentReader(), ""
	for len(text) > 0 {
		raw, rest, _ := nextLine(text)
		r, err := reader.line(raw)
		if err != nil {
			return nil, err
		}
		if prev, _ := shape(raw); string(prev) != last {
			return nil, errForm
		}
		if r != nil {
			out = append(out, r)
		}
		text, last = rest, hash(raw)
	}
	return out, nil
}

// Hash names a line.
func Hash(raw []byte) string { return hash(raw) }

// Sign signs a head.
func Sign(secrets [][]byte, h Head) Head {
	h.Signature = newKeys(secrets).sign(h.statement())
	return h
}

// MayWant reports whether a page parses a line.
func MayWant(f *Filter, raw []byte) bool { return f.mayWant(raw) }

// Listed returns the numbers of the segments among the files that a folder had before.
func Listed(dir string, entries []fs.DirEntry) (numbers []int64, err error) {
	all, err := segmentsAmong(dir, entries)
	for _, s := range all {
		numbers = append(numbers, s.number)
	}
	return numbers, err
}

// LogIn returns the log in the first line of a segment. path is its name before its compression.
func LogIn(path string) (log string, err error) { return segment{path: path}.log() }
