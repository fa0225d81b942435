package mongodb_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// command is one that was sent to the server.
type command struct {
	name string
	raw  bson.Raw
}

func (c command) lookup(path ...string) any {
	var v any
	if value, err := c.raw.LookupErr(path...); err == nil {
		_ = value.Unmarshal(&v)
	}
	return v
}

func (c command) inTransaction() bool {
	return c.name != "commitTransaction" && c.lookup("txnNumber") != nil && c.lookup("autocommit") == false
}

// recorder keeps what is sent.
type recorder struct {
	mu   sync.Mutex
	sent []command
}

func (r *recorder) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, command{e.CommandName, slices.Clone(e.Command)})
	}}
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = nil
}

func (r *recorder) all() []command {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

func recorded(t *testing.T) (*mongodb.Store, *recorder) {
	t.Helper()
	r := &recorder{}
	s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: database(t), Schemas: storetest.Schemas(), Monitor: r.monitor()}))(t)
	t.Cleanup(func() { _ = s.Close() })
	r.reset()
	return s, r
}

// TestAnIndexHasTimeToBeBuilt: a start that adds an index to a large collection is not ended with the time of
// an ordinary operation, at each start anew.
func TestAnIndexHasTimeToBeBuilt(t *testing.T) {
	r := &recorder{}
	s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: database(t), Schemas: storetest.Schemas(), Monitor: r.monitor()}))(t)
	t.Cleanup(func() { _ = s.Close() })
	built := 0
	for _, c := range r.all() {
		if c.name != "createIndexes" {
			continue
		}
		built++
		if ms, ok := c.lookup("maxTimeMS").(int64); !ok || time.Duration(ms)*time.Millisecond < 50*time.Minute {
			t.Errorf("%v has %v ms", c.lookup("indexes"), c.lookup("maxTimeMS"))
		}
	}
	if built == 0 {
		t.Error("no index was built")
	}
}

// TestCommandsHaveADeadline: what the server would go on with is bounded there too.
func TestCommandsHaveADeadline(t *testing.T) {
	s, commands := recorded(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must.Get(s.Freshness(ctx))(t)
	if _, _, err := s.Changes(ctx, 0, 10); err != nil {
		t.Fatal(err)
	}
	things := storetest.Schemas()[0]
	must.Do(t, s.Transact(ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(ctx, "a"); err != nil {
			return err
		}
		_, err := tx.Find(ctx, things, store.Query{Index: things.Indexes[2].Name})
		return err
	}))
	seen := map[string]bool{}
	for _, c := range commands.all() {
		seen[c.name] = true
		// The driver bounds a find of several documents, whose cursor may outlive the call, and
		// a commit on its own side only; the server ends both with their session.
		several := c.name == "find" && c.lookup("limit") != int64(1)
		if c.lookup("maxTimeMS") == nil && !several && c.name != "commitTransaction" && c.name != "endSessions" {
			t.Errorf("%s has no maxTimeMS: %v", c.name, c.raw)
		}
	}
	for _, name := range []string{"find", "findAndModify", "commitTransaction"} {
		if !seen[name] {
			t.Errorf("no %s was sent", name)
		}
	}
}

// TestFreshnessIsOneLinearizableRead of the primary.
func TestFreshnessIsOneLinearizableRead(t *testing.T) {
	s, commands := recorded(t)
	must.Get(s.Freshness(t.Context()))(t)
	sent := commands.all()
	if len(sent) != 1 || sent[0].name != "find" || sent[0].lookup("readConcern", "level") != "linearizable" {
		t.Errorf("sent %v", sent)
	}
}

// TestViewReadsASnapshot that a majority has.
func TestViewReadsASnapshot(t *testing.T) {
	s, commands := recorded(t)
	must.Do(t, s.View(t.Context(), func(tx store.Tx) error { _, err := tx.Revision(t.Context(), "a"); return err }))
	sent := commands.all()
	if len(sent) != 3 || sent[0].lookup("readConcern", "level") != "snapshot" || sent[2].name != "commitTransaction" || sent[2].lookup("writeConcern", "w") != "majority" {
		t.Errorf("sent %v", sent)
	}
}
