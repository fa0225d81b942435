package sessions_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/sessions"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	account, alice, bob = "acct-a-v1", "user-alice-v1", "user-bob-v1"
	accessToken         = "the-token-of-"
)

// world is a store with two members, whose tokens end after a day.
type world struct {
	*areatest.World
	master   resources.MasterKey
	tokenEnd time.Duration
	// refuse is why the gateway refuses tokens, outside why nobody signs them here.
	refuse, outside error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: areatest.New(t, "console"), tokenEnd: 24 * time.Hour}
	w.setKeys(newKeys(t, 1)...)
	w.AddAccounts(account)
	w.AddUser(account, alice, resources.StatusActive)
	w.AddUser(account, bob, resources.StatusActive)
	w.AddUser("", "user-nora-v1", resources.StatusActive)
	w.AddUser(account, "user-sue-v1", resources.StatusSuspended)
	return w
}

// newKeys returns lines of a key file, each with a key of its own.
func newKeys(t *testing.T, n int) []string {
	t.Helper()
	lines := make([]string, n)
	for i := range lines {
		raw := make([]byte, 32)
		must.Get(rand.Read(raw))(t)
		lines[i] = base64.StdEncoding.EncodeToString(raw)
	}
	return lines
}

// setKeys gives the services made from now on these keys.
func (w *world) setKeys(lines ...string) {
	w.T.Helper()
	var err error
	if w.master, err = resources.ReadMasterKey(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		w.T.Fatal(err)
	}
}

// service returns what a replica of the gateway has.
func (w *world) service() *sessions.Service {
	w.T.Helper()
	return must.Get(sessions.New(w.config()))(w.T)
}

func (w *world) config() sessions.Config {
	return sessions.Config{
		Store: w.Store, Collections: w.Collections, Master: w.master, Now: w.Clock.Now, Random: rand.Reader,
		Identify: func(_ context.Context, token string) (resources.Principal, time.Time, error) {
			user := strings.TrimPrefix(token, accessToken)
			caller := resources.Principal{Kind: resources.PrincipalUser, ID: user, AccountID: account}
			switch user {
			case "user-nora-v1":
				caller.AccountID = ""
			case "robot":
				caller.Kind = resources.PrincipalService
			}
			return caller, w.Clock.Now().Add(w.tokenEnd), w.refuse
		},
		Sign: func(user string, _ time.Duration) (string, error) { return accessToken + user, w.outside },
	}
}

// begin signs a user in.
func (w *world) begin(s *sessions.Service, user string) (secret string) {
	w.T.Helper()
	secret = must.Get(s.Begin(w.Ctx, accessToken+user))(w.T)
	return secret
}

// wantUser holds a session to its user, "" for no session.
func (w *world) wantUser(s *sessions.Service, secret, user string) {
	w.T.Helper()
	session, err := s.Session(w.Ctx, secret, true)
	switch {
	case user == "" && !errors.Is(err, sessions.ErrNone):
		w.T.Errorf("a session is there: %v, %v", session, err)
	case user != "" && (err != nil || session.UserID != user || session.AccountID != account || session.Token != accessToken+user):
		w.T.Errorf("the session of %s: %v, %v", user, session, err)
	}
}

func (w *world) pass(d time.Duration) { w.Clock.Add(d.Milliseconds()) }

// TestASessionEnds guarantees its ends: without a use, after the longest time, and with the token.
func TestASessionEnds(t *testing.T) {
	t.Run("without a use", func(t *testing.T) {
		w := newWorld(t)
		s, replica := w.service(), w.service()
		secret := w.begin(s, alice)
		for range 5 { // each use counts, on any replica
			w.pass(sessions.Idle - time.Second)
			w.wantUser(replica, secret, alice)
		}
		w.pass(sessions.Idle)
		w.wantUser(s, secret, "")
		w.wantUser(s, secret, "")
	})
	t.Run("while a page follows alone", func(t *testing.T) {
		w := newWorld(t)
		s := w.service()
		secret := w.begin(s, alice)
		w.pass(sessions.Idle - time.Second)
		must.Get(s.Session(w.Ctx, secret, false))(t)
		w.pass(time.Second)
		w.wantUser(s, secret, "")
	})
	t.Run("after the longest time", func(t *testing.T) {
		w := newWorld(t)
		s := w.service()
		secret := w.begin(s, alice)
		for range 12*3 - 1 {
			w.pass(20 * time.Minute)
			w.wantUser(s, secret, alice)
		}
		w.pass(20 * time.Minute)
		w.wantUser(s, secret, "")
	})
	t.Run("with the token", func(t *testing.T) {
		w := newWorld(t)
		w.tokenEnd = 10 * time.Minute
		s := w.service()
		secret := w.begin(s, alice)
		w.pass(10*time.Minute - time.Millisecond)
		w.wantUser(s, secret, alice)
		w.pass(time.Millisecond)
		w.wantUser(s, secret, "")
	})
}

// TestWhoBeginsASession guarantees that only an active member does.
func TestWhoBeginsASession(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	for _, user := range []string{"user-nora-v1", "user-sue-v1", "user-none-v1", "robot"} {
		if _, err := s.Begin(w.Ctx, accessToken+user); !resources.IsKind(err, resources.KindForbidden) {
			t.Errorf("%s: %v", user, err)
		}
	}
	w.refuse = errors.New("an ended token")
	if _, err := s.Begin(w.Ctx, accessToken+alice); !errors.Is(err, w.refuse) {
		t.Error(err)
	}
}

// TestEnds guarantees that End ends one session, and EndAll all of the user and no other's.
func TestEnds(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	first, second, third, other := w.begin(s, alice), w.begin(s, alice), w.begin(s, alice), w.begin(s, bob)
	must.Do(t, errors.Join(s.End(w.Ctx, first), s.End(w.Ctx, first), s.End(w.Ctx, "none")))
	w.wantUser(s, first, "")
	w.wantUser(s, second, alice)
	if err := s.EndAll(w.Ctx, first); !errors.Is(err, sessions.ErrNone) {
		t.Errorf("with a session that has ended: %v", err)
	}
	must.Do(t, s.EndAll(w.Ctx, second))
	w.wantUser(s, second, "")
	w.wantUser(s, third, "")
	w.wantUser(s, other, bob)
	idle := w.begin(s, alice)
	w.pass(sessions.Idle)
	used := w.begin(s, alice)
	w.wantUser(s, idle, "")
	must.Do(t, s.EndAll(w.Ctx, idle))
	w.wantUser(s, used, "")
}

// TestACodeIsRedeemedOnce guarantees one session for a code, of many replicas at once, within its minute.
func TestACodeIsRedeemedOnce(t *testing.T) {
	w := newWorld(t)
	code := must.Get(w.service().NewCode(w.Ctx, alice))(t)
	secrets, errs := make([]string, 8), make([]error, 8)
	var wait sync.WaitGroup
	for i := range secrets {
		s := w.service()
		wait.Go(func() { secrets[i], errs[i] = s.Redeem(w.Ctx, code) })
	}
	wait.Wait()
	won := 0
	for i, secret := range secrets {
		switch {
		case errs[i] == nil:
			won++
			w.wantUser(w.service(), secret, alice)
		case !errors.Is(errs[i], sessions.ErrNone) || secret != "":
			t.Errorf("%q, %v", secret, errs[i])
		}
	}
	if won != 1 {
		t.Errorf("%d sessions for a code", won)
	}
}

// TestOldCodes guarantees the last moment of a code, and that a code is spent also if it is too old.
func TestOldCodes(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	for _, c := range []struct {
		age  time.Duration
		want error
	}{{sessions.CodeLife - time.Millisecond, nil}, {sessions.CodeLife, sessions.ErrNone}, {time.Hour, sessions.ErrNone}} {
		code := must.Get(s.NewCode(w.Ctx, alice))(t)
		w.pass(c.age)
		if _, err := s.Redeem(w.Ctx, code); !errors.Is(err, c.want) {
			t.Errorf("after %s: %v", c.age, err)
		}
		w.Clock.Add(-c.age.Milliseconds()) // another replica's clock may be behind
		if _, err := s.Redeem(w.Ctx, code); !errors.Is(err, sessions.ErrNone) {
			t.Errorf("again after %s: %v", c.age, err)
		}
	}
}

// TestWhoGetsACode guarantees that only members do, and nobody beside an outside issuer.
func TestWhoGetsACode(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	for _, user := range []string{"user-nora-v1", "user-none-v1", ""} {
		if code, err := s.NewCode(w.Ctx, user); !resources.IsKind(err, resources.KindNotFound) {
			t.Errorf("%s: %q, %v", user, code, err)
		}
	}
	w.outside = errors.New("an outside issuer makes the tokens")
	if _, err := s.NewCode(w.Ctx, alice); !resources.IsKind(err, resources.KindConflict) {
		t.Error(err)
	}
}

// TestACopyOfTheStoreSignsNobodyIn guarantees that the store's files have neither a secret, nor a code, nor a token.
func TestACopyOfTheStoreSignsNobodyIn(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	secret := w.begin(s, alice)
	code := must.Get(s.NewCode(w.Ctx, bob))(t)
	files, err := filepath.Glob(filepath.Join(w.Dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw := must.Get(os.ReadFile(file))(t)
		for name, text := range map[string]string{"secret": secret, "code": code, "token": accessToken} {
			if bytes.Contains(raw, []byte(text)) {
				t.Errorf("%s has the %s", filepath.Base(file), name)
			}
		}
	}
	w.Write(func(ctx context.Context, tx store.Tx) error { // nor does what the store has sign in
		recs, err := w.Collections.ConsoleSessions.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: 10})
		for _, rec := range recs {
			w.wantUser(s, rec.Value.ID, "")
			w.wantUser(s, rec.Value.Token, "")
		}
		return err
	})
	w.setKeys(newKeys(t, 1)...)
	w.wantUser(w.service(), secret, "") // without the master key the token stays sealed
}

// TestSessionsOutliveARotation guarantees that a session goes on with a new master key as long as the former one stays.
func TestSessionsOutliveARotation(t *testing.T) {
	w := newWorld(t)
	keys := newKeys(t, 2)
	w.setKeys(keys[0])
	secret := w.begin(w.service(), alice)
	w.setKeys(keys[1], keys[0])
	rotated := w.service()
	w.wantUser(rotated, secret, alice)
	second := w.begin(rotated, bob)
	w.setKeys(keys[1])
	w.wantUser(w.service(), second, bob) // sealed with the key in use
	w.wantUser(w.service(), secret, "")
}

// TestSealedValuesAreBound guarantees that a sealed value is opened for its purpose alone, and in one form alone.
func TestSealedValuesAreBound(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	sealed := s.Seal([]byte("value"), "login")
	if value, ok := s.Open(sealed, "login"); !ok || string(value) != "value" {
		t.Error(value, ok)
	}
	for name, try := range map[string][2]string{
		"another purpose": {sealed, "session"}, "cut": {sealed[1:], "login"}, "longer": {sealed + "A", "login"}, "nothing": {"", "login"},
		"in the clear": {"value", "login"},
	} {
		if value, ok := s.Open(try[0], try[1]); ok {
			t.Errorf("%s: %q", name, value)
		}
	}
}

// TestEndedRecordsAreSwept guarantees that a sign-in deletes ended sessions and codes.
func TestEndedRecordsAreSwept(t *testing.T) {
	w := newWorld(t)
	s := w.service()
	for range 5 {
		w.begin(s, alice)
		must.Get(s.NewCode(w.Ctx, alice))(t)
	}
	w.pass(sessions.Longest)
	live := w.begin(s, bob)
	w.Write(func(ctx context.Context, tx store.Tx) error {
		kept, err := w.Collections.ConsoleSessions.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: 10})
		if err != nil {
			return err
		}
		codes, err := w.Collections.ConsoleCodes.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: 10})
		if len(kept) != 1 || kept[0].Value.UserID != bob || len(codes) != 0 {
			t.Errorf("%d sessions and %d codes are kept", len(kept), len(codes))
		}
		return err
	})
	w.wantUser(s, live, bob)
}

// readOnly is a store on a full disk.
type readOnly struct{ store.Store }

func (readOnly) Transact(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }

// TestASessionIsReadOnAFullDisk guarantees that people see the console while the store takes no writes. Nothing moves the
// idle time of their sessions then.
func TestASessionIsReadOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	secret := w.begin(w.service(), alice)
	w.Store = readOnly{w.Store}
	full := w.service()
	for range 2 {
		w.pass(sessions.Idle/2 - time.Minute)
		w.wantUser(full, secret, alice)
	}
	w.pass(2 * time.Minute)
	w.wantUser(full, secret, "")
}
