package decisionlog_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// sink is a server for events. Tests choose its answers.
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
	must.Do(t, l.Close())
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
	must.Do(t, l.Close())
	l = w.open(t) // it knows its place
	record(t, l, 25, 26)
	s.wait(t, idsTo(26))
	must.Do(t, l.Close())
}

// shipping has the log send to the sink.
func (s *sink) shipping(w *world) {
	w.change = func(o *decisionlog.Options) {
		o.Input = appInput
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: &http.Client{Timeout: 5 * time.Second}, First: time.Millisecond, Longest: 10 * time.Millisecond}
	}
}

// TestARecordWithoutAnInputHoldsUpNoOther: it is sent without one.
func TestARecordWithoutAnInputHoldsUpNoOther(t *testing.T) {
	s := newSink(t)
	w := newWorld(t)
	s.shipping(w)
	before := w.change
	w.change = func(o *decisionlog.Options) {
		before(o)
		o.Input = func(j *resources.Judgement) ([]byte, error) {
			if j.ID == "id-000005" {
				return nil, errors.New("no input")
			}
			return input(j)
		}
	}
	l := w.open(t)
	record(t, l, 0, 10)
	s.wait(t, idsTo(10))
	must.Do(t, l.Close())
}

// TestWhatTheSinkRefusesStopsNothing guarantees that a record too large for the sink is sent without its input, and is
// left out if the sink refuses this, too. Both are counted and named. The records before and behind them arrive.
func TestWhatTheSinkRefusesStopsNothing(t *testing.T) {
	for _, status := range []int{http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		s := newSink(t)
		w := newWorld(t)
		s.shipping(w)
		var erased atomic.Int64
		s.does(func(w http.ResponseWriter, r *http.Request) bool {
			text, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return false
			}
			body, _ := io.ReadAll(text)
			if len(body) > 100_000 || bytes.Contains(body, []byte("id-000006")) {
				w.WriteHeader(status)
				return false
			}
			erased.Add(int64(bytes.Count(body, []byte(`"erased":["/input"]`))))
			var again bytes.Buffer
			packed := gzip.NewWriter(&again)
			_, _ = packed.Write(body)
			_ = packed.Close()
			r.Body = io.NopCloser(&again)
			return true
		})
		l := w.open(t)
		var verdicts []*resources.Judgement
		for n := range 10 {
			verdicts = append(verdicts, judgement(t, n))
		}
		large := askedApp(t, `{"text":"`+strings.Repeat("x", 200_000)+`"}`)
		large.ID, verdicts[3] = "id-000003", large
		must.Do(t, l.Record(t.Context(), verdicts...))
		s.wait(t, slices.Delete(idsTo(10), 6, 7))
		record(t, l, 10, 12)
		s.wait(t, slices.Delete(idsTo(12), 6, 7))
		must.Do(t, l.Close())
		if got := l.Stats(); got.SentErased != 1 || got.NotSent != 1 || erased.Load() != 1 {
			t.Errorf("%d: %+v, and %d arrived without input", status, got, erased.Load())
		}
		for _, id := range []string{"id-000003", "id-000006"} {
			if strings.Count(w.said.text, id) != 1 {
				t.Errorf("%d: %s is not named once: %s", status, id, w.said.text)
			}
		}
	}
}

// TestARedirectIsNoAnswerOfTheSink guarantees all decisions to a sink after a time of redirects. A client could follow these
// to a sign-in page, and the page would look like a receipt.
func TestARedirectIsNoAnswerOfTheSink(t *testing.T) {
	s := newSink(t)
	w := newWorld(t)
	s.shipping(w)
	posts := make(chan struct{}, 1000)
	s.does(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			posts <- struct{}{}
			http.Redirect(w, r, "/login", http.StatusFound)
		}
		return false
	})
	l := w.open(t)
	record(t, l, 0, 3)
	<-posts
	record(t, l, 3, 6)
	<-posts
	s.does(nil)
	s.wait(t, idsTo(6))
	must.Do(t, l.Close())
}

// TestTheQueryOfTheSinkIsNotLogged guarantees it for a sink that does not answer: its key may be in the query.
func TestTheQueryOfTheSinkIsNotLogged(t *testing.T) {
	s := newSink(t)
	s.URL += "/logs?key=S3CR3T"
	w := newWorld(t)
	s.shipping(w)
	s.Close()
	l := w.open(t)
	record(t, l, 0, 1)
	harness.Soon(t, "a failure is logged", func() bool { return strings.Contains(w.said.all(), "can't be sent") })
	must.Do(t, l.Close())
	if text := w.said.all(); strings.Contains(text, "S3CR3T") || !strings.Contains(text, "refused") {
		t.Error(text)
	}
}
