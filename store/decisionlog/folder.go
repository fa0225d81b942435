package decisionlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"

	"github.com/portcullis-authz/portcullis/resources/durable"
)

// The files of a log.
const (
	openSuffix   = ".log"
	closedSuffix = ".log.zst"
	tornSuffix   = ".torn"
	beginFile    = "beginning.json"
	lockFile     = "lock"
)

// maxSegment bounds what is read of one segment in bytes.
const maxSegment = 1 << 30

// segment is a file of a log.
type segment struct {
	number int64
	path   string
	size   int64
	// packed says that it is compressed.
	packed bool
}

// segmentsOf returns the segments of a log, the oldest first. A compression that was cut short leaves both forms of a
// segment: it returns the plain one.
func segmentsOf(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	return segmentsAmong(dir, entries)
}

// segmentsAmong is segmentsOf for the files that the folder had before.
func segmentsAmong(dir string, entries []fs.DirEntry) (out []segment, err error) {
	for _, e := range entries {
		s := segment{path: filepath.Join(dir, e.Name())}
		digits, plain := strings.CutSuffix(e.Name(), openSuffix)
		if !plain {
			if digits, s.packed = strings.CutSuffix(e.Name(), closedSuffix); !s.packed {
				continue
			}
		}
		if s.number, err = strconv.ParseInt(digits, 10, 64); err != nil || s.number < 1 || len(digits) != nameDigits {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) && !s.packed { // it was compressed meanwhile
			s = s.compressed()
			info, err = os.Stat(s.path)
		}
		if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			continue
		} else if err != nil {
			return nil, err
		}
		s.size = info.Size()
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b segment) int {
		if a.number != b.number {
			return int(a.number - b.number)
		}
		return strings.Compare(a.path, b.path) // .log before .log.zst
	})
	return slices.CompactFunc(out, func(a, b segment) bool { return a.number == b.number }), nil
}

const nameDigits = 12

func segmentPath(dir string, number int64, suffix string) string {
	return filepath.Join(dir, fmt.Sprintf("%0*d%s", nameDigits, number, suffix))
}

// errDamaged is of a compressed segment that can't be read to its end.
var errDamaged = errors.New("is damaged")

// compressed returns the compressed form of a segment that is not compressed.
func (s segment) compressed() segment {
	s.path, s.packed = strings.TrimSuffix(s.path, openSuffix)+closedSuffix, true
	return s
}

// open opens a segment, also after its compression meanwhile. packed is about the opened file.
func (s segment) open() (f *os.File, packed bool, err error) {
	f, err = os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) && !s.packed {
		return s.compressed().open()
	}
	return f, s.packed, err
}

// read returns the lines of a segment, also beside errDamaged those before the damage.
func (s segment) read() ([]byte, error) {
	f, isPacked, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	reader, size := io.Reader(f), min(s.size, maxSegment)
	if isPacked {
		packed := bufio.NewReader(f)
		size = contentSize(packed)
		unpacked, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer unpacked.Close()
		reader = unpacked
	}
	var all bytes.Buffer
	all.Grow(int(size) + bytes.MinRead)
	var pathErr *fs.PathError
	switch n, err := io.Copy(&all, io.LimitReader(reader, maxSegment+1)); {
	case errors.As(err, &pathErr):
		return nil, err
	case err != nil:
		return all.Bytes(), fmt.Errorf("%s: %w: %w", filepath.Base(s.path), errDamaged, err)
	case n > maxSegment:
		return nil, fmt.Errorf("%s: %w: it is over %d bytes", filepath.Base(s.path), errDamaged, maxSegment)
	}
	return all.Bytes(), nil
}

// contentSize returns the size of a compressed segment's lines in bytes, 0 if its header has none or a size that no
// segment has. Segments of older versions have none.
func contentSize(packed *bufio.Reader) int64 {
	raw, err := packed.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err != nil && !errors.Is(err, io.EOF) || h.Decode(raw) != nil || !h.HasFCS || h.FrameContentSize > 2*largestSegment {
		return 0 // the decoder reports what is wrong
	}
	return int64(h.FrameContentSize)
}

// mostEnd is more than the last line of a closed segment has, in bytes.
const mostEnd = 4 << 10

// rest returns the text of a segment that is not compressed, behind an offset.
func (s segment) rest(offset int64) ([]byte, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.NewSectionReader(f, offset, maxSegment))
}

// pack compresses a closed segment. It goes through the file: a segment as a whole in memory took more
// time than its compression.
func (s segment) pack(dir string) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	path := segmentPath(dir, s.number, closedSuffix)
	err = durable.Fill(path, func(w io.Writer) error {
		encoder, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow))
		if err != nil {
			return err
		}
		encoder.ResetContentSize(w, s.size)
		_, err = io.Copy(encoder, f)
		return errors.Join(err, encoder.Close())
	})
	if err = errors.Join(err, durable.SyncDir(filepath.Dir(path))); err != nil {
		return err
	}
	return os.Remove(s.path)
}

// packWindow is how far back the compression looks, in bytes.
const packWindow = 1 << 20

// writeFile writes a file in one step, so that it is there whole or not at all.
func writeFile(path string, content []byte) error {
	return errors.Join(durable.Write(path, content), durable.SyncDir(filepath.Dir(path)))
}

// readBeginning returns what retention has left, nil where all is there.
func readBeginning(dir string) (*beginning, error) {
	raw, err := os.ReadFile(filepath.Join(dir, beginFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var b beginning
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", beginFile, err)
	}
	return &b, nil
}

// maxLogs bounds the processes that share a folder.
const maxLogs = 99

// logsIn returns the folders of the logs in a folder of decisions, in order.
func logsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil && e.IsDir() && len(e.Name()) == 2 {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// claim locks the first log of the folder that no other process writes, or makes a new one. Processes on one data folder
// have a log each.
func claim(dir string) (path string, held *os.File, err error) {
	for n := 1; n <= maxLogs; n++ {
		path = filepath.Join(dir, fmt.Sprintf("%02d", n))
		if err := os.MkdirAll(path, 0o700); err != nil {
			return "", nil, err
		}
		held, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return "", nil, err
		}
		switch err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return path, held, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return "", nil, errors.Join(err, held.Close())
		}
		_ = held.Close() // another process has it
	}
	return "", nil, fmt.Errorf("%d processes write decisions in %s; give each its own --data-dir", maxLogs, dir)
}
