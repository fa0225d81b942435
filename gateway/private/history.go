package private

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxHistory bounds the trees that a process remembers.
const maxHistory = 50

// Outcomes of a policy tree.
const (
	OutcomeTaken   = "taken"
	OutcomeRefused = "refused"
)

// PolicyEntry is a policy tree that the process took or refused.
type PolicyEntry struct {
	// Revision is "" for a refused tree that could not be read.
	Revision string `json:"revision"`
	// BundleRevision is the one in a bundle's manifest, "" for a tree that came in another way.
	BundleRevision string         `json:"bundle_revision"`
	At             resources.Time `json:"at"`
	Outcome        string         `json:"outcome"`
	// Reasons say why it was refused.
	Reasons []string `json:"reasons"`
}

// History is the newest policy trees that the process took or refused. It is safe for concurrent use.
type History struct {
	mu      sync.Mutex
	entries []PolicyEntry
}

// Add notes a tree, and forgets the oldest one over the bound.
func (h *History) Add(e PolicyEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries[max(0, len(h.entries)-maxHistory+1):], e)
}

// newest returns the trees, the newest first.
func (h *History) newest() []PolicyEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := append([]PolicyEntry{}, h.entries...)
	slices.Reverse(out)
	return out
}

// ServeHTTP implements http.Handler for GET /policy/history.
func (h *History) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(struct { // a client that is gone needs no answer
		History []PolicyEntry `json:"history"`
	}{h.newest()})
}
