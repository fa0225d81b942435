package private

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// statusTimeout bounds what a status asks of the store.
const statusTimeout = 2 * time.Second

// Status is what an operator sees of a process. A member of a part that the process does not have is null.
type Status struct {
	Version     string         `json:"version"`
	Policy      PolicyStatus   `json:"policy"`
	Stores      []StoreStatus  `json:"stores"`
	Lease       *LeaseStatus   `json:"lease"`
	Redis       *RedisStatus   `json:"redis"`
	KeySets     []KeySetStatus `json:"key_sets"`
	Caches      *CachesStatus  `json:"caches"`
	Outbox      *OutboxStatus  `json:"outbox"`
	DecisionLog any            `json:"decision_log"`
	Shadow      any            `json:"shadow"`
}

// PolicyStatus is the tree in force, since when, and the last change that was refused.
type PolicyStatus struct {
	Revision string `json:"revision"`
	// Base and Own are the revisions of an overlay's parts; "" for a whole tree.
	Base    string         `json:"base,omitempty"`
	Own     string         `json:"own,omitempty"`
	Since   resources.Time `json:"since"`
	Refused *RefusedStatus `json:"refused"`
}

// RefusedStatus is a change of policy that was not taken.
type RefusedStatus struct {
	At      resources.Time `json:"at"`
	Reasons []string       `json:"reasons"`
}

// StoreStatus is the state of the store: ready, unavailable or lost.
type StoreStatus struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	ReadOnly bool   `json:"read_only"`
	Error    string `json:"error,omitempty"`
}

// LeaseStatus is the lease of the facts.
type LeaseStatus struct {
	Seconds    float64 `json:"seconds"`
	AgeSeconds float64 `json:"age_seconds"`
	Valid      bool    `json:"valid"`
}

// RedisStatus is the state of the breaker of the shared cache.
type RedisStatus struct {
	Breaker string `json:"breaker"`
}

// KeySetStatus is the key set of an issuer.
type KeySetStatus struct {
	Issuer string `json:"issuer"`
	// AgeSeconds is null before the first keys.
	AgeSeconds *float64 `json:"age_seconds"`
}

// CachesStatus holds the caches in the process.
type CachesStatus struct {
	Verdicts   CacheStatus `json:"verdicts"`
	Tokens     CacheStatus `json:"tokens"`
	Subjects   CacheStatus `json:"subjects"`
	Shared     CacheStatus `json:"projects_and_roles"`
	Identities CacheStatus `json:"identities"`
}

// CacheStatus is how many entries a cache has, and how many at most.
type CacheStatus struct {
	Entries int `json:"entries"`
	Most    int `json:"most"`
}

// OutboxStatus is the mail that waits.
type OutboxStatus struct {
	Pending          int     `json:"pending"`
	Dead             int     `json:"dead"`
	OldestAgeSeconds float64 `json:"oldest_age_seconds"`
}

// status answers with the status. It is 200 in every state: readiness is another question.
func (l *Listener) status(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), statusTimeout)
	defer cancel()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(l.Status(ctx)) // a client that is gone needs no answer
}
