package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// mailFolder is where mail goes without a server, in the data folder.
const mailFolder = "mail"

// newUsers makes the area of users.
func (s *settings) newUsers(c *core, keeper *idempotency.Keeper, tokens wire.PageTokens) *users.Service {
	return users.New(users.Config{
		Store: c.store, Collections: c.collections, Judge: c.policy.Inside(), Idempotency: keeper, Tokens: tokens,
		IDs: c.ids, Now: time.Now, IdentityProvider: s.identityProvider, InvitationTTL: s.invitationTTL,
		Invite: func(account resources.Account, user resources.User, now resources.Time) resources.Message {
			return outbox.Invitation(account, user, c.ids, now)
		},
	})
}

// newKeys makes the area of API keys.
func newKeys(c *core, keeper *idempotency.Keeper) *apikeys.Service {
	return apikeys.New(apikeys.Config{
		Store: c.store, Collections: c.collections, Judge: c.policy.Inside(), Idempotency: keeper,
		Keys: resources.NewAPIKeys(c.master), IDs: c.ids, Now: time.Now,
	})
}

// newOutbox makes the worker that delivers mail: over SMTP, or into the data folder.
func (s *settings) newOutbox(c *core, m *observe.Metrics, log *slog.Logger) (*outbox.Worker, error) {
	deliver, err := s.deliverer(log)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return outbox.New(outbox.Config{
		Store: c.store, Collections: c.collections, Deliver: deliver, Now: time.Now, Random: rand.Reader,
		Log: log, Owner: host + ":" + strconv.Itoa(os.Getpid()), Observe: m.Delivered,
	}), nil
}

func (s *settings) deliverer(log *slog.Logger) (outbox.Deliverer, error) {
	if s.smtpURL == "" {
		return outbox.NewFolder(filepath.Join(s.dataDir, mailFolder), log)
	}
	return outbox.NewSMTP(s.smtpURL, nil)
}

// keyDirectory finds API keys, through the cache.
type keyDirectory struct{ cache *rolecache.Cache }

// ByKeyID implements authn.KeyDirectory.
func (d keyDirectory) ByKeyID(ctx context.Context, id string) (authn.KeyIdentity, bool, error) {
	known, found, err := d.cache.IdentifyKey(ctx, id)
	return authn.KeyIdentity{
		Owner: authn.Identity{ExternalID: known.UserID, UUID: known.UUID, AccountID: known.AccountID, Status: known.Status},
		Key:   known.Key,
	}, found, err
}

// background is the work beside requests; it has to end before the store is closed.
type background struct {
	// stopMail ends deliveries, while requests still drain; stopUses ends the notes of
	// used keys, after the last request.
	stopMail, stopUses context.CancelFunc
	wait               sync.WaitGroup
}

// runBackground starts the work beside requests.
func (a *app) runBackground() *background {
	mail, stopMail := context.WithCancel(context.Background())
	uses, stopUses := context.WithCancel(context.Background())
	b := &background{stopMail: stopMail, stopUses: stopUses}
	if a.outbox == nil {
		return b
	}
	b.wait.Go(func() { a.outbox.Run(mail) })
	b.wait.Go(func() { a.uses.Run(uses) })
	b.wait.Go(func() { a.cache.Run(uses) })
	return b
}

// end stops all of the work and waits for it.
func (b *background) end() {
	b.stopMail()
	b.stopUses()
	b.wait.Wait()
}
