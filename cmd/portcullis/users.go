package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// mailFolder is the folder of mail in the data folder, where there is no mail server.
const mailFolder = "mail"

// newUsers makes the area of users.
func (c *core) newUsers(keeper *idempotency.Keeper, tokens wire.PageTokens) *users.Service {
	return users.New(users.Config{
		Store: c.recorded, Collections: c.collections, Judge: c.judge, Idempotency: keeper, Tokens: tokens,
		IDs: c.ids, Now: time.Now, IdentityProvider: c.settings.Credentials.IdentityProvider, InvitationTTL: c.settings.Mail.InvitationTTL,
		Invite: func(account resources.Account, user resources.User, now resources.Time) resources.Message {
			return outbox.Invitation(account, user, c.ids, now)
		},
	})
}

// newKeys makes the area of API keys.
func (c *core) newKeys(keeper *idempotency.Keeper) *apikeys.Service {
	return apikeys.New(apikeys.Config{
		Store: c.recorded, Collections: c.collections, Judge: c.judge, Idempotency: keeper,
		Keys: resources.NewAPIKeys(c.master), IDs: c.ids, Now: time.Now,
	})
}

// newOutbox makes the worker that delivers mail.
func (a *app) newOutbox() (*outbox.Worker, error) {
	deliver, err := newDeliverer(a.settings, a.log.Logger)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return outbox.New(outbox.Config{
		Store: a.store, Collections: a.collections, Deliver: deliver, Now: time.Now, Random: rand.Reader,
		Log: a.log.Logger, Owner: host + ":" + strconv.Itoa(os.Getpid()), Observe: a.metrics.Delivered,
	}), nil
}

// newDeliverer delivers over SMTP, or into the data folder.
func newDeliverer(s *config.Config, log *slog.Logger) (outbox.Deliverer, error) {
	if s.Mail.SMTPURL == "" {
		return outbox.NewFolder(filepath.Join(s.Store.DataDir, mailFolder), log)
	}
	deliver, err := outbox.NewSMTP(s.Mail.SMTPURL, nil)
	if err != nil {
		return nil, fmt.Errorf("--smtp-url: %w", err)
	}
	return deliver, nil
}
