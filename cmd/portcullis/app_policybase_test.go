package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

// failing is a store that counts its changes, and refuses them while it is down.
type failing struct {
	store.Store
	down           atomic.Bool
	asked, changed atomic.Int64
}

func (c *failing) Transact(context.Context, func(store.Tx) error) error {
	c.asked.Add(1)
	if c.down.Load() {
		return store.ErrUnavailable
	}
	c.changed.Add(1)
	return nil
}

// View implements store.Store.
func (c *failing) View(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }

// TestAnOutageIsNoRefusalOfTheBase guarantees that a start beside a silent store gives no advice to go around the guards. The
// base may be the same as before.
func TestAnOutageIsNoRefusalOfTheBase(t *testing.T) {
	policy := must.Get(engine.New(t.Context(), overlay.Start(), proof.LoadProven, engine.Options{Read: overlay.Read}))(t)
	settings := &config.Config{}
	settings.Policy.Dir = "own"
	a := &app{core: &core{settings: settings, policy: policy, store: &failing{}, collections: records.NewCollections()}}
	err := a.acceptBase(t.Context())
	if !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "--accept-base") || strings.Contains(err.Error(), "do not pass") {
		t.Error(err)
	}
}

// TestATreeIsKeptOnceItCanBe guarantees that a tree in force is kept as soon as the store takes it: the guards of an older
// tree would be asked about the next base. The log says so once, and a kept tree is not written again.
func TestATreeIsKeptOnceItCanBe(t *testing.T) {
	tree := overlay.Start()
	policy := must.Get(engine.New(t.Context(), tree, proof.LoadProven, engine.Options{Read: overlay.Read}))(t)
	synctest.Test(t, func(t *testing.T) {
		s, log := &failing{}, &bytes.Buffer{}
		settings := &config.Config{}
		settings.Policy.Dir = "own"
		a := &app{
			core: &core{settings: settings, policy: policy, store: s, collections: records.NewCollections()},
			log:  &observe.Log{Logger: slog.New(slog.NewTextHandler(log, nil))},
		}
		s.down.Store(true)
		a.keepPolicy(t.Context())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			a.saveTreeAgain(ctx)
			close(ended)
		}()
		time.Sleep(time.Minute)
		s.down.Store(false)
		time.Sleep(time.Minute)
		stop()
		<-ended
		if asked, changed := s.asked.Load(), s.changed.Load(); changed != 1 || asked < 4 {
			t.Errorf("kept %d times, asked %d times", changed, asked)
		}
		for _, line := range []string{"can't be kept for the next start", "is kept for the next start"} {
			if n := strings.Count(log.String(), line); n != 1 {
				t.Errorf("%q %d times:\n%s", line, n, log)
			}
		}
	})
}
