package apikeys_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// replica returns a gateway's way from a key to a principal: with a cache of its own.
func (w *keysWorld) replica() *authn.Authenticator {
	w.T.Helper()
	cache := rolecache.New(w.Store, w.Collections, rolecache.Options{Entries: 1000})
	signer := must.Get(authn.NewSigner(w.master))(w.T)
	return must.Get(authn.New(authn.Options{
		Issuers: []authn.Issuer{signer.Issuer()}, Directory: cache, APIKeys: w.keys, Used: w.uses.Note, Now: w.Clock.Now,
	}))(w.T)
}

// refused wants the one refusal that there is.
func (w *keysWorld) refused(r *authn.Authenticator, title, raw string) {
	w.T.Helper()
	p, err := r.VerifyKey(w.T.Context(), raw)
	body := string(wire.ErrorBody(resources.AreaUsers, resources.AsError(err)))
	want := `{"success":false,"error":{"code":"AUTH_002","type":"unauthorized","message":"invalid or expired authentication token","details":""}}`
	if err == nil || p.ID != "" || body != want {
		w.T.Errorf("%s: %+v, %s", title, p, body)
	}
	if err != nil && strings.Contains(err.Error(), raw) {
		w.T.Errorf("%s: the error holds the key", title)
	}
}

func (w *keysWorld) accepted(r *authn.Authenticator, title, raw string) resources.Principal {
	w.T.Helper()
	p, err := r.VerifyKey(w.T.Context(), raw)
	if err != nil {
		w.T.Errorf("%s: %v", title, err)
	}
	return p
}

func TestAKeyWorksFromItsAnswerToItsEnd(t *testing.T) {
	w := newWorld(t)
	one, two := w.replica(), w.replica()
	got := w.call("api_key.create", areatest.As(acctA, bob), acctA, bob, "", areatest.Object{"key_name": "k", "scopes": []string{"read"}, "expires_at": (areatest.Start + minute).String()})
	w.Expect(got, 201)
	raw, id := got.Str("data.raw_key"), got.Str("data.id")
	for _, r := range []*authn.Authenticator{one, two, one} {
		p := w.accepted(r, "made", raw)
		if p.ID != bob || p.AccountID != acctA || p.UUID != "uuid-"+bob || p.KeyID != id || len(p.KeyScopes) != 1 || p.KeyScopes[0] != "read" {
			t.Errorf("%+v", p)
		}
	}
	w.flush(w.uses)
	if w.lastUse(id) != areatest.Start {
		t.Error("the use is not noted")
	}
	w.ChangeUser(bob, func(u *resources.User) { u.Status = resources.StatusSuspended })
	w.refused(one, "owner suspended", raw)
	w.ChangeUser(bob, func(u *resources.User) { u.Status = resources.StatusActive })
	w.accepted(one, "owner active again", raw)
	w.ChangeUser(bob, func(u *resources.User) { u.AccountID = acctB })
	w.refused(one, "owner in another account", raw)
	w.ChangeUser(bob, func(u *resources.User) { u.AccountID = acctA })
	w.accepted(two, "owner back", raw)
	w.Clock.Add(int64(minute) - 1)
	w.accepted(one, "a moment before its end", raw)
	w.Clock.Add(1)
	w.refused(one, "at its end", raw)
	w.Clock.Store(int64(areatest.Start))
	w.Expect(w.revoke(areatest.As(acctA, bob), acctA, bob, id), 200)
	w.refused(one, "revoked", raw)
	w.refused(two, "revoked", raw)
	w.refused(w.replica(), "revoked, a new replica", raw)
	stranger, _ := w.keys.New(resources.IDs{Now: w.Clock.Now, Random: bytes.NewReader(make([]byte, 64))})
	w.refused(one, "unknown", stranger)
}

// TestARevokedKeyIsRefusedAtOnce: however many use it meanwhile, no call that begins
// after the answer is accepted.
func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	replicas := []*authn.Authenticator{w.replica(), w.replica()}
	const readers = 4
	rounds := tier.Amount(200, 40)
	type round struct {
		raw     string
		revoked atomic.Bool
	}
	var current atomic.Pointer[round]
	current.Store(&round{})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var late, accepted atomic.Int64
	for i := range readers {
		wg.Go(func() {
			for ctx.Err() == nil {
				now := current.Load()
				revoked := now.revoked.Load()
				if _, err := replicas[i%len(replicas)].VerifyKey(context.Background(), now.raw); err == nil {
					accepted.Add(1)
					if revoked {
						late.Add(1)
					}
				}
			}
		})
	}
	for i := range rounds {
		owner := []string{alice, bob, carol}[i%3]
		raw, id := w.made(acctA, owner)
		next := &round{raw: raw}
		current.Store(next)
		for _, r := range replicas {
			w.accepted(r, "made", raw)
		}
		w.Expect(w.revoke(areatest.As(acctA, owner), acctA, owner, id), 200)
		next.revoked.Store(true)
		for _, r := range replicas {
			w.refused(r, "revoked", raw)
		}
	}
	stop()
	wg.Wait()
	if late.Load() > 0 || accepted.Load() == 0 {
		t.Errorf("%d of %d were accepted after the revocation", late.Load(), accepted.Load())
	}
}

// TestTheRawKeyIsInNoLog guarantees it for the log lines of a refusal and of the flush.
func TestTheRawKeyIsInNoLog(t *testing.T) {
	w := newWorld(t)
	r := w.replica()
	raw, id := w.made(acctA, bob)
	token := "Bearer " + raw
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	u := apikeys.NewUses(apikeys.UsesConfig{Store: lost{w.Store}, Collections: w.Collections, Log: logger})
	u.Note(id, areatest.Start)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	u.Run(ctx)
	p, err := r.Authenticate(t.Context(), []string{token}, nil)
	logger.Info("accepted", "principal", p, "error", err)
	w.Expect(w.revoke(areatest.As(acctA, bob), acctA, bob, id), 200)
	for _, sent := range [][2][]string{{{token}, nil}, {nil, {raw}}, {{token, token}, nil}, {nil, {raw + "0"}}, {nil, {raw[:len(raw)-1]}}, {{raw}, nil}} {
		_, err := r.Authenticate(t.Context(), sent[0], sent[1])
		logger.Info("refused", "error", err)
	}
	if secret := raw[len(raw)-39 : len(raw)-7]; strings.Contains(log.String(), secret) || !strings.Contains(log.String(), id) {
		t.Errorf("the log holds the key, or nothing: %s", strings.ReplaceAll(log.String(), secret, "SECRET"))
	}
}

// lost is a store that can't be written.
type lost struct{ store.Store }

func (lost) Transact(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }
