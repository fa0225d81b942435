package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
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

// checkCaller holds the caller of a change against the store, in the transaction of the
// change. The store of a process behind gateways has no accounts: there the gateway's
// assertion counts, which is about this one request and at most half a minute old.
func (c *core) checkCaller(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error {
	if c.settings.Areas.BehindGateways() {
		return nil
	}
	_, err := c.collections.LoadCaller(ctx, tx, account, caller, resources.At(c.ids.Now()))
	return err
}

// suspended says whether the account is suspended. The store of a process behind gateways cannot tell.
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

// newInnerEdge makes the edge of a process behind gateways.
func (a *app) newInnerEdge() (*gateway.Edge, error) {
	return gateway.NewInner(gateway.Config{
		Catalogue: a.policy.Routes(), Assertions: a.assertions, Certificates: a.certificates,
		Limits: a.settings.Limits.Edge, IDs: a.ids, Now: a.ids.Now, Log: a.log.Logger, Observe: a.observe, Tracing: a.edgeTracing(),
	}, a.localAreas())
}
