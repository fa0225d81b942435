package private

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
)

// Bounds of a tree that another process sends.
const (
	liveTreeWithin = 30 * time.Second
	maxLiveTree    = 256 << 20
)

// liveTree is a policy tree as the private listener sends it.
type liveTree struct {
	Revision string            `json:"revision"`
	Bundle   string            `json:"bundle,omitempty"`
	Files    map[string][]byte `json:"files"`
}

// sendTree sends the tree in force.
func sendTree(w http.ResponseWriter, source *policies.Source) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Policy-Revision", source.Revision)
	_ = json.NewEncoder(w).Encode(liveTree{source.Revision, source.Bundle, source.Files}) // a client that is gone needs no answer
}

// ReadTree gets the tree in force of the gateway whose private listener is at the URL, and checks its revision.
func ReadTree(ctx context.Context, url string) (*policies.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTreeWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/policy/tree", nil)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	resp, err := Do(req)
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
	src := policies.FromBundle(tree.Files, tree.Bundle)
	if src.Revision != tree.Revision {
		return nil, fmt.Errorf("--url: the tree that came is %s, not %s as it says", src.Revision, tree.Revision)
	}
	return src, nil
}
