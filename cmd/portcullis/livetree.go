package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
)

// Bounds of a tree that another process sends.
const (
	liveTreeWithin = 30 * time.Second
	maxLiveTree    = 256 << 20
)

// liveTree is a policy tree as the private listener sends it.
type liveTree struct {
	Revision string            `json:"revision"`
	Files    map[string][]byte `json:"files"`
}

// sendTree sends the tree in force.
func sendTree(w http.ResponseWriter, of *policies.Source) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Policy-Revision", of.Revision)
	_ = json.NewEncoder(w).Encode(liveTree{of.Revision, of.Files}) // a client that is gone needs no answer
}

// liveTreeName names the tree in force of a running gateway.
const liveTreeName = "live"

// readTree reads a tree by its name: a folder, a bundle, `embedded` or "", or `live`, the one in force of the
// gateway whose private listener is at the URL. The key is for bundles.
func readTree(ctx context.Context, name, url string, key *bundles.Key) (*policies.Source, error) {
	switch name {
	case liveTreeName:
		return readLiveTree(ctx, url)
	case "":
		name = bundles.Embedded
	}
	if !isBundle(name) {
		key = nil
	}
	return bundles.ReadTree(name, key)
}

// readLiveTree gets the tree in force of the gateway whose private listener is at the URL, and checks its revision.
func readLiveTree(ctx context.Context, url string) (*policies.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTreeWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/policy/tree", nil)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	resp, err := askPrivate(req)
	if err != nil {
		return nil, fmt.Errorf("--url: %w; it must be the private listener of a gateway", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var tree liveTree
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxLiveTree)).Decode(&tree); err != nil {
		return nil, fmt.Errorf("--url: %s did not answer with a policy tree: %w", url, err)
	}
	if tree.Revision == "" || len(tree.Files) == 0 {
		return nil, fmt.Errorf("--url: %s did not answer with a policy tree; it must be the private listener of a gateway", url)
	}
	src := policies.Of(tree.Files)
	if src.Revision != tree.Revision {
		return nil, fmt.Errorf("--url: the tree that came is %s, not %s as it says", src.Revision, tree.Revision)
	}
	return src, nil
}

// defaultPrivateURL is where a gateway of this machine has its private listener.
const defaultPrivateURL = "http://" + config.DefaultHealthListen
