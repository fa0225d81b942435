package decisionlog_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// sink takes events, or does what it is told to.
type sink struct {
	*httptest.Server
	mu   sync.Mutex
	got  []string
	act  func(w http.ResponseWriter, r *http.Request) (taken bool)
	seen chan struct{} // a value for each request, where somebody waits for it
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{seen: make(chan struct{}, 1000)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	act := s.act
	s.mu.Unlock()
	defer func() {
		select {
		case s.seen <- struct{}{}:
		default:
		}
	}()
	if act != nil && !act(w, r) {
		return
	}
	text, err := gzip.NewReader(r.Body)
	var events []decisionlog.Event
	if err == nil {
		err = json.NewDecoder(text).Decode(&events)
	}
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Content-Type") != "application/json" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if !slices.Contains(s.got, e.DecisionID) { // at least once
			s.got = append(s.got, e.DecisionID)
		}
	}
}

func (s *sink) does(act func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act = act
}

// wait waits until the sink has these ids, in order.
func (s *sink) wait(t *testing.T, want []string) {
	t.Helper()
	for limit := time.After(30 * time.Second); ; {
		s.mu.Lock()
		got := slices.Clone(s.got)
		s.mu.Unlock()
		if len(got) >= len(want) {
			if !slices.Equal(got, want) {
				t.Fatalf("got %v", got)
			}
			return
		}
		select {
		case <-s.seen:
		case <-limit:
			t.Fatalf("got %d of %d", len(got), len(want))
		}
	}
}

// TestASinkThatFailsHangsAndComesBackHasEverything, also after a restart, and from a sink that takes
// small posts only.
func TestASinkThatFailsHangsAndComesBackHasEverything(t *testing.T) {
	s := newSink(t)
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) {
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: &http.Client{Timeout: 200 * time.Millisecond}, First: time.Millisecond, Longest: 10 * time.Millisecond}
	}
	l := w.open(t)
	record(t, l, 0, 10)
	s.wait(t, idsTo(10))
	s.does(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		return false
	})
	record(t, l, 10, 20)
	for range 3 {
		<-s.seen
	}
	s.does(func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has gone
		<-r.Context().Done()
		return false
	})
	for range 3 {
		<-s.seen
	}
	if l.Stats().Unsent == 0 {
		t.Error("nothing waits, by the metric")
	}
	must(t, l.Close())
	l = w.open(t)
	record(t, l, 20, 25)
	s.does(func(w http.ResponseWriter, r *http.Request) bool {
		if r.ContentLength > 700 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return false
		}
		return true
	})
	s.wait(t, idsTo(25))
	must(t, l.Close())
	l = w.open(t) // which knows where it stopped
	record(t, l, 25, 26)
	s.wait(t, idsTo(26))
	must(t, l.Close())
}

// TestARecordThatCannotBeReadHoldsUpNoneBeforeIt: those are sent at once, and the record when it can be read.
func TestARecordThatCannotBeReadHoldsUpNoneBeforeIt(t *testing.T) {
	s := newSink(t)
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 10)
	must(t, l.Close())
	var mended atomic.Bool
	w.change = func(o *decisionlog.Options) {
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: &http.Client{Timeout: time.Second}, First: time.Millisecond, Longest: 10 * time.Millisecond}
		o.Input = func(j *resources.Judgement) ([]byte, error) {
			if j.ID == "id-000005" && !mended.Load() {
				return nil, errors.New("no input")
			}
			return input(j)
		}
	}
	l = w.open(t)
	s.wait(t, idsTo(5))
	mended.Store(true)
	s.wait(t, idsTo(10))
	must(t, l.Close())
}
