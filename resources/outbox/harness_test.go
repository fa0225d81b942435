package outbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/must"
)

// clock stands still until it is moved.
type clock struct {
	mu     sync.Mutex
	moment time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moment
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moment = c.moment.Add(d)
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// newLog logs everything there.
func newLog(b *logBuffer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// deliverFunc is a Deliverer by a function.
type deliverFunc func(context.Context, resources.Message) error

func (f deliverFunc) Deliver(ctx context.Context, m resources.Message) error { return f(ctx, m) }

// scene is a store with an outbox.
type scene struct {
	*testing.T
	dir   string
	c     records.Collections
	store store.Store
	clock *clock
	ids   resources.IDs
	logs  *logBuffer
	log   *slog.Logger
}

func newScene(t *testing.T) *scene {
	t.Helper()
	logs := &logBuffer{}
	s := &scene{
		T: t, dir: t.TempDir(), c: records.NewCollections(), clock: &clock{moment: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		logs: logs, log: newLog(logs),
	}
	s.ids = resources.IDs{Now: s.clock.now, Random: rand.Reader}
	s.open()
	t.Cleanup(func() { s.store.Close() })
	return s
}

func (s *scene) open() {
	s.Helper()
	opened := must.Get(sqlite.Open(s.Context(), sqlite.Options{Dir: s.dir, Schemas: s.c.Schemas()}))(s)
	s.store = opened
}

// restart closes the store and opens it again.
func (s *scene) restart() {
	s.Helper()
	must.Do(s, s.store.Close())
	s.open()
}

// worker makes one; change may be nil.
func (s *scene) worker(d outbox.Deliverer, change func(*outbox.Config)) *outbox.Worker {
	cfg := outbox.Config{
		Store: s.store, Collections: s.c, Deliver: d, Now: s.clock.now, Random: rand.Reader, Owner: "here", Log: s.log,
		Every: time.Millisecond,
	}
	if change != nil {
		change(&cfg)
	}
	return outbox.New(cfg)
}

// smtp makes a deliverer for the server.
func (s *scene) smtp(server *mailServer) *outbox.SMTP {
	s.Helper()
	return must.Get(outbox.NewSMTP("smtp://"+server.address()+"?tls=none&from=sender@example.com", nil))(s)
}

// invite stores an invitation, as an area does.
func (s *scene) invite(name, email string) resources.Message {
	s.Helper()
	m := outbox.Invitation(resources.Account{ID: "acct-1-v1", Name: name},
		resources.User{ExternalID: "user-1-v1", Email: email}, s.ids, resources.At(s.clock.now()))
	s.put(m)
	return m
}

func (s *scene) put(m resources.Message) {
	s.Helper()
	must.Do(s, s.store.Transact(s.Context(), func(tx store.Tx) error { return s.c.Outbox.Insert(s.Context(), tx, m) }))
}

// once does one round and wants that many messages taken.
func (s *scene) once(w *outbox.Worker, want int) {
	s.Helper()
	got, err := w.Once(s.Context())
	if err != nil || got != want {
		s.Fatalf("took %d, %v; want %d", got, err, want)
	}
}

// read gives a stored message; nil when it is gone.
func (s *scene) read(id string) *resources.Message {
	s.Helper()
	var out *resources.Message
	err := s.store.View(s.Context(), func(tx store.Tx) error {
		rec, err := s.c.Outbox.Get(s.Context(), tx, id)
		if err == nil {
			out = &rec.Value
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.Fatal(err)
	}
	return out
}

// always reads as one byte for ever.
type always byte

func (a always) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(a)
	}
	return len(p), nil
}

var _ io.Reader = always(0)
