package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// newAreas makes the resource areas, which may be asked through a gateway of another process.
func (s *settings) newAreas(c *core, keeper *idempotency.Keeper, tokens wire.PageTokens) {
	c.firewall = firewall.New(firewall.Config{
		Store: c.store, Collections: c.collections, CheckCaller: s.checkCaller(c),
		Tokens: tokens, Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
		MaxGroups: s.maxGroups, MaxRules: s.maxRules,
	})
	c.clusters = clusters.New(clusters.Config{
		Store: c.store, Collections: c.collections, CheckCaller: s.checkCaller(c), SecurityGroups: c.firewall,
		Tokens: tokens, Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
	})
}

// checkCaller is what a resource area asks of the caller of a change. The store of a process
// behind gateways has no accounts: there the gateway's word stands, which is about this very
// request and half a minute old at most.
func (s *settings) checkCaller(c *core) func(context.Context, store.Tx, string, resources.Principal) error {
	if s.role == roleResources {
		return func(context.Context, store.Tx, string, resources.Principal) error { return nil }
	}
	return func(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error {
		_, err := c.collections.LoadCaller(ctx, tx, account, caller, resources.At(c.ids.Now()))
		return err
	}
}
