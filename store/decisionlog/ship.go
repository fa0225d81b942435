package decisionlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// Sink is a service that takes decision logs as OPA sends them.
type Sink struct {
	URL    string
	Client *http.Client
	// First and Longest bound the wait after a failure; zero is a second and a minute.
	First, Longest time.Duration
}

// Bounds of one post.
const (
	maxBatch      = 1000
	maxBatchBytes = 1 << 20 // before compression
	postTime      = 30 * time.Second
)

const sentFile = "sent.json"

// shipper sends records. It belongs to one goroutine.
type shipper struct {
	*Log
	cursor *cursor
	most   int // records in a post
	failed bool
	// passed are the parts of the log behind the last post that can't be read.
	passed []error
}

// ship sends what is on disk until the context ends, each record at least once.
func (l *Log) ship(ctx context.Context) {
	pos, err := readPosition(l.dir)
	if err != nil {
		l.o.Log.Warn("it is not known which decisions the sink has; all of them are sent again", "error", err.Error())
	}
	l.sent.Store(&pos)
	s := &shipper{Log: l, most: maxBatch}
	s.cursor = newCursor(l.dir, pos, func(err error) { s.passed = append(s.passed, err) })
	s.cursor.until = l.stats.position.Load
	wait := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		more, err := s.post(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			wait = s.after(wait)
			if !s.failed {
				l.o.Log.Warn("decisions can't be sent; they wait, and are tried again", "error", err.Error())
			}
			s.failed = true
		case more:
			wait, s.failed = 0, false
		default:
			wait, s.failed = settleEvery, false
		}
	}
}

// after returns the wait after a failure: twice the last one, with chance in it.
func (s *shipper) after(last time.Duration) time.Duration {
	first, longest := s.o.Sink.First, s.o.Sink.Longest
	if first <= 0 {
		first, longest = time.Second, time.Minute
	}
	next := min(max(2*last, first), longest)
	return next/2 + rand.N(next/2+1) //nolint:gosec // spreads the load, and is no secret
}

// batch is what one post has.
type batch struct {
	body  []byte
	count int
	last  Event
}

// post sends one batch and says whether there is more to read at once.
func (s *shipper) post(ctx context.Context) (more bool, err error) {
	before := s.cursor.pos
	s.passed = nil
	b, err := s.batch()
	if b.count == 0 && err != nil {
		return false, err
	}
	more = err != nil // the batch is full, or the next one begins with the error
	if b.count > 0 {
		err := s.send(ctx, b.body)
		if errors.Is(err, errRefused) && b.count == 1 {
			err = s.sendErased(ctx, &b.last, err)
		}
		if err != nil {
			s.cursor.pos, s.cursor.reader = before, nil // which reads the facts again
			if errors.Is(err, errRefused) {
				s.most = max(1, min(s.most, b.count)/2)
				return true, nil
			}
			return false, err
		}
		s.most = min(maxBatch, 2*s.most)
	}
	for _, err := range s.passed {
		s.stats.notSent.Add(1)
		s.o.Log.Error("a decision can't be sent: `portcullis decisions verify` says what is wrong with the log", "error", err.Error())
	}
	return more, s.save()
}

// sendErased sends a record without its input, since the sink has refused it for good. One that the sink refuses again is
// left out.
func (s *shipper) sendErased(ctx context.Context, e *Event, why error) error {
	e.Input, e.Erased = nil, append(e.Erased, "/"+PartInput)
	raw, err := e.JSON()
	if err == nil {
		err = s.send(ctx, pack(raw))
	}
	switch {
	case err == nil:
		s.stats.sentErased.Add(1)
		s.o.Log.Warn("a decision was sent without its input: the sink refuses it", "decision_id", e.DecisionID, "error", why.Error())
	case errors.Is(err, errRefused):
		s.stats.notSent.Add(1)
		s.o.Log.Error("a decision was not sent: the sink refuses it, also without its input", "decision_id", e.DecisionID, "error", err.Error())
		return nil
	}
	return err
}

// batch reads records and returns them as a gzipped array. The error tells why it ended before the end of the
// log; the cursor is behind the records that the batch has.
func (s *shipper) batch() (b batch, err error) {
	var records [][]byte
	size := 0
	err = s.cursor.read(func(r *Record) error {
		if len(records) >= s.most || size > maxBatchBytes {
			return errStop
		}
		b.last = r.Event(s.o.Input)
		raw, _ := b.last.JSON() // of texts that were read from JSON
		records, size = append(records, raw), size+len(raw)
		return nil
	})
	b.count = len(records)
	if b.count > 0 {
		b.body = pack(records...)
	}
	return b, err
}

// pack returns events as a gzipped array.
func pack(events ...[]byte) []byte {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	separator := []byte{'['}
	for _, raw := range events { // nothing fails to be written to a buffer
		_, _ = packed.Write(separator)
		_, _ = packed.Write(raw)
		separator = []byte{','}
	}
	_, _ = packed.Write([]byte{']'})
	_ = packed.Close()
	return out.Bytes()
}

// errRefused is of what the sink never takes.
var errRefused = errors.New("the sink refuses it")

// send posts a body of gzipped JSON to the sink. The error wraps errRefused for 413 and 422: the same body would be refused
// again. The caller repeats the body after any other error, also if the sink took it and its answer broke off. A redirect is
// an error: the client would get a page in place of a receipt.
func (s *shipper) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.Sink.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	client := *s.o.Sink.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // leaves out the URL, whose query may be secret
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	err = errors.Join(err, resp.Body.Close())
	switch {
	case resp.StatusCode == http.StatusRequestEntityTooLarge, resp.StatusCode == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s", errRefused, resp.Status)
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("the sink answers %s", resp.Status)
	}
	return err
}

// save keeps how far the sink has the log.
func (s *shipper) save() error {
	pos := s.cursor.pos
	if pos == *s.sent.Load() {
		return nil
	}
	raw, err := json.Marshal(pos)
	if err != nil {
		return err
	}
	s.sent.Store(&pos)
	return writeFile(filepath.Join(s.dir, sentFile), raw)
}

func readPosition(dir string) (pos position, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, sentFile))
	if errors.Is(err, os.ErrNotExist) {
		return position{}, nil
	} else if err != nil {
		return position{}, err
	}
	return pos, json.Unmarshal(raw, &pos)
}

// unsent returns how many bytes on disk the sink does not have; 0 without a sink.
func (l *Log) unsent() (bytes int64) {
	pos := l.sent.Load()
	if pos == nil {
		return 0
	}
	all, err := segmentsOf(l.dir)
	if err != nil {
		return -1
	}
	for _, s := range all {
		switch {
		case s.number > pos.Segment:
			bytes += s.size
		case s.number == pos.Segment && !s.packed:
			bytes += max(0, s.size-pos.Offset)
		case s.number == pos.Segment:
			bytes += s.size
		}
	}
	return bytes
}
