package mongodb_test

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestReadWriteIsEnough guarantees that a user with this role on the database can do everything the
// gateway does. It ends its own abandoned transactions, and nobody else's.
func TestReadWriteIsEnough(t *testing.T) {
	urls := servers.MongoWithUsers(t, "portcullis", "gateway", "neighbour")
	g := &grouped{Store: open(t, urls[0], notes().Schema()), t: t, url: urls[0], notes: notes(), sent: &recorder{}}
	answers := g.inLine(nothing, g.change("a", nil), g.refusal("b"), g.change("c", nil))
	if answers[0] != nil || !errors.Is(answers[1], errRefused) || answers[2] != nil {
		t.Errorf("got %v", answers)
	}
	_, generation := g.NewGeneration(t.Context())
	_, _, changed := g.Changes(t.Context(), 0, 10)
	again := open(t, urls[0], notes().Schema())
	if err := errors.Join(generation, changed, g.Lease(t.Context(), 0), g.Check(t.Context()), g.Ping(t.Context()), again.Check(t.Context())); err != nil {
		t.Error(err)
	}

	l := leave(t, urls[0], "", "epoch")
	if err := bumpA(t.Context(), g.Store); err != nil {
		t.Error(err)
	}
	if err := l.ses.CommitTransaction(t.Context()); err == nil {
		t.Error("the abandoned transaction was committed")
	}
	foreign := leave(t, urls[1], "", "epoch")
	if err := bumpA(t.Context(), g.Store); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := foreign.ses.CommitTransaction(t.Context()); err != nil {
		t.Error(err)
	}
}
