package main

import (
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// newAreas makes the resource areas, which may be asked through a gateway of another process.
func (s *settings) newAreas(c *core, keeper *idempotency.Keeper, tokens wire.PageTokens) {
	c.firewall = firewall.New(firewall.Config{
		Store: c.store, Collections: c.collections, Tokens: tokens, Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
		MaxGroups: s.maxGroups, MaxRules: s.maxRules,
	})
	c.clusters = clusters.New(clusters.Config{
		Store: c.store, Collections: c.collections, SecurityGroups: c.firewall, Tokens: tokens,
		Idempotency: keeper, IDs: c.ids, Now: c.ids.Now,
	})
}
