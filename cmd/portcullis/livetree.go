package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
)

// liveTreeName names the tree in force of a running gateway.
const liveTreeName = "live"

// readTree reads a tree by its name: a folder, a bundle, `embedded` or "", or `live`, the one in force of the
// gateway whose private listener is at the URL. The key is for bundles.
func readTree(ctx context.Context, name, url string, key *bundles.Key) (*policies.Source, error) {
	switch name {
	case liveTreeName:
		return private.ReadTree(ctx, url)
	case "":
		name = bundles.Embedded
	}
	if !isBundle(name) {
		key = nil
	}
	return bundles.ReadTree(name, key)
}

// defaultPrivateURL is where a gateway of this machine has its private listener.
const defaultPrivateURL = "http://" + config.DefaultHealthListen
