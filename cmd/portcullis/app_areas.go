package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// newAreas makes the resource areas.
func (c *core) newAreas(keeper *idempotency.Keeper, tokens wire.PageTokens) (*firewall.Service, *clusters.Service) {
	groups := firewall.New(firewall.Config{
		Store: c.store, Collections: c.collections, CheckCaller: c.checkCaller,
		Tokens: tokens, Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
		MaxGroups: c.settings.Limits.MaxGroups, MaxRules: c.settings.Limits.MaxRules,
	})
	return groups, clusters.New(clusters.Config{
		Store: c.store, Collections: c.collections, CheckCaller: c.checkCaller, Suspended: c.suspended, SecurityGroups: groups,
		Tokens: tokens, Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
	})
}

// checkCaller compares the caller of a change with the store, in the transaction of the
// change. The store of a process behind gateways has no accounts: there the gateway's
// assertion counts, which is about this one request and at most half a minute old.
func (c *core) checkCaller(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error {
	if c.settings.Areas.BehindGateways() {
		return nil
	}
	_, err := c.collections.LoadCaller(ctx, tx, account, caller, resources.At(c.ids.Now()))
	return err
}

// suspended says whether the account is suspended. The store of a process behind gateways does not know it.
func (c *core) suspended(ctx context.Context, tx store.Tx, account string) (bool, error) {
	if c.settings.Areas.BehindGateways() {
		return false, nil
	}
	rec, err := store.Lookup(c.collections.Accounts.Get(ctx, tx, account))
	return rec == nil || rec.Value.Status != resources.StatusActive, err
}

// localAreas returns the resource areas that this process serves, by their upstream names.
func (c *core) localAreas() map[string]gateway.Area {
	all := map[string]gateway.Area{
		config.UpstreamFirewall: {Routes: c.firewall.Routes(), Projects: c.firewall},
		config.UpstreamClusters: {Routes: c.clusters.Routes(), Projects: c.clusters},
	}
	local := map[string]gateway.Area{}
	for _, name := range c.settings.Areas.Local() {
		local[name] = all[name]
	}
	return local
}

// occupants returns all areas, in this process and elsewhere: each is asked before a project
// is deleted.
func (c *core) occupants() (all []access.Occupant) {
	local, upstreams, limits := c.localAreas(), c.settings.Areas.Upstreams(), c.settings.Limits.Edge
	for _, name := range config.ResourceAreas() {
		if base := upstreams[name]; base != nil {
			all = append(all, peer.RemoteArea{Upstream: peer.NewUpstream(name, base, limits.Upstream, limits.Idle, c.assertions), IDs: c.ids})
		} else if area, ok := local[name]; ok {
			all = append(all, area)
		}
	}
	return all
}

// mailFolder is the folder of mail in the data folder, without a mail server.
const mailFolder = "mail"

// newUsers makes the area of users.
func (c *core) newUsers(keeper *idempotency.Keeper, tokens wire.PageTokens) *users.Service {
	return users.New(users.Config{
		Store: c.recorded, Collections: c.collections, Judge: c.judge.Decide, Idempotency: keeper, Tokens: tokens,
		IDs: c.ids, Now: time.Now, IdentityProvider: c.settings.Credentials.IdentityProvider, InvitationTTL: c.settings.Mail.InvitationTTL,
		Invite: func(account resources.Account, user resources.User, now resources.Time) resources.Message {
			return outbox.Invitation(account, user, c.ids, now)
		},
	})
}

// newKeys makes the area of API keys.
func (c *core) newKeys(keeper *idempotency.Keeper) *apikeys.Service {
	return apikeys.New(apikeys.Config{
		Store: c.recorded, Collections: c.collections, Judge: c.judge.Decide, Idempotency: keeper,
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

// newRecorder makes what writes the records of changes.
func (c *core) newRecorder() *changes.Recorder {
	return &changes.Recorder{
		Collections: c.collections, IDs: c.ids, Now: c.ids.Now, Retention: c.settings.Store.ChangeRetention, Action: c.actionOf,
		Shown: changes.Shown{
			Assignment: access.ShownAssignment, Project: access.ShownProject, User: users.Shown,
			APIKey: func(k resources.APIKey) any { return apikeys.Shown(k, resources.At(time.Now())) },
		},
	}
}

// actionOf returns the action of a route of the catalogue in force, "" for none.
func (c *core) actionOf(route string) string {
	for _, row := range c.policy.Routes() {
		if row.Name == route {
			return row.Action
		}
	}
	return ""
}
