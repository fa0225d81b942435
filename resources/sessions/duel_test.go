package sessions_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/sessions"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// TestASuspensionBesideASignInEndsTheSession guarantees that no session is left after the answer to a suspension. A
// replica suspends the user in the middle of the sign-in at another one, on a database without an order of its
// transactions. The user's later activation would give such a session its rights back.
func TestASuspensionBesideASignInEndsTheSession(t *testing.T) {
	w := newWorld(t)
	url := servers.Mongo(t, 1).Database(t)
	open := func() store.Store {
		s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: w.Collections.Schemas()}))(t)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	replica, another := open(), open()
	w.Store = replica
	w.AddAccounts(account)
	w.AddUser(account, alice, resources.StatusActive)
	suspended := make(chan error, 1)
	var readings sync.Mutex
	n := 0
	config := w.config()
	config.Now = func() time.Time {
		readings.Lock()
		n++
		during := n == 2 // in the transaction, which has read the user
		readings.Unlock()
		if during {
			ended := make(chan struct{})
			go func() {
				suspended <- w.suspend(another, alice)
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(time.Second): // it waits for the sign-in
			}
		}
		return w.Clock.Now()
	}
	s := must.Get(sessions.New(config))(t)
	secret, err := s.Begin(w.Ctx, accessToken+alice)
	must.Do(t, <-suspended)
	if err == nil {
		w.wantUser(s, secret, "")
	}
}

// suspend suspends a user as user.update does.
func (w *world) suspend(s store.Store, user string) error {
	return s.Transact(w.Ctx, func(tx store.Tx) error {
		if _, err := tx.Bump(w.Ctx, account); err != nil {
			return err
		}
		rec, err := w.Collections.Users.Get(w.Ctx, tx, user)
		if err != nil {
			return err
		}
		if err := w.Collections.EndConsoleSessions(w.Ctx, tx, user); err != nil {
			return err
		}
		rec.Value.Status = resources.StatusSuspended
		return w.Collections.Users.Replace(w.Ctx, tx, rec)
	})
}
