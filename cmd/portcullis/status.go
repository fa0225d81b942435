package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// statusTimeout bounds what a status asks of the store.
const statusTimeout = 2 * time.Second

// state is what the process knows of itself for its status alone.
type state struct {
	mu                   sync.Mutex
	policySince, refusal time.Time
	// breaker is nil without a shared cache, authenticator in a process behind gateways.
	breaker       func() string
	authenticator *authn.Authenticator
	keySets       []keySet
	// parts are further members of the status by their names: each shows what another part of the
	// process knows of itself.
	parts map[string]func(context.Context) any
}

func newState() *state { return &state{parts: map[string]func(context.Context) any{}} }

// keySet is the key set of an issuer.
type keySet struct {
	issuer string
	source agingSource
}

// took notes that a policy tree has come into force.
func (s *state) took() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policySince = time.Now()
}

// refused notes that a changed policy tree was not taken.
func (s *state) refused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = time.Now()
}

// status is what an operator sees of a process. A member of a part that the process does not have is null.
type status struct {
	Version     string         `json:"version"`
	Policy      policyStatus   `json:"policy"`
	Stores      []storeStatus  `json:"stores"`
	Lease       *leaseStatus   `json:"lease"`
	Redis       *redisStatus   `json:"redis"`
	KeySets     []keySetStatus `json:"key_sets"`
	Caches      *cachesStatus  `json:"caches"`
	Outbox      *outboxStatus  `json:"outbox"`
	DecisionLog any            `json:"decision_log"`
	Shadow      any            `json:"shadow"`
}

type policyStatus struct {
	Revision string         `json:"revision"`
	Since    resources.Time `json:"since"`
	Refused  *refusedStatus `json:"refused"`
}

type refusedStatus struct {
	At      resources.Time `json:"at"`
	Reasons []string       `json:"reasons"`
}

type storeStatus struct {
	Name     string             `json:"name"`
	State    observe.StoreState `json:"state"`
	ReadOnly bool               `json:"read_only"`
	Error    string             `json:"error,omitempty"`
}

// metric returns the state as metrics show it.
func (s storeStatus) metric() observe.StoreState {
	if s.ReadOnly && s.State == observe.StoreReady {
		return observe.StoreReadOnly
	}
	return s.State
}

type leaseStatus struct {
	Seconds    float64 `json:"seconds"`
	AgeSeconds float64 `json:"age_seconds"`
	Valid      bool    `json:"valid"`
}

type redisStatus struct {
	Breaker string `json:"breaker"`
}

type keySetStatus struct {
	Issuer string `json:"issuer"`
	// AgeSeconds is null before the first keys.
	AgeSeconds *float64 `json:"age_seconds"`
}

type cachesStatus struct {
	Verdicts   cacheStatus `json:"verdicts"`
	Tokens     cacheStatus `json:"tokens"`
	Subjects   cacheStatus `json:"subjects"`
	Shared     cacheStatus `json:"projects_and_roles"`
	Identities cacheStatus `json:"identities"`
}

type cacheStatus struct {
	Entries int `json:"entries"`
	Most    int `json:"most"`
}

type outboxStatus struct {
	Pending          int     `json:"pending"`
	Dead             int     `json:"dead"`
	OldestAgeSeconds float64 `json:"oldest_age_seconds"`
}

// serveStatus answers with the status. It is 200 whatever the state: readiness is another question.
func (a *app) serveStatus(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), statusTimeout)
	defer cancel()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(a.status(ctx)) // a client that is gone needs no answer
}

// status returns what the private listener tells at /status.
func (a *app) status(ctx context.Context) status {
	s := status{Version: version(), Policy: a.policyStatus(), Stores: []storeStatus{a.storeStatus(ctx)}, KeySets: []keySetStatus{}}
	if a.cache != nil {
		s.Lease, s.Caches = a.leaseStatus(), a.cachesStatus()
	}
	if a.state.breaker != nil {
		s.Redis = &redisStatus{a.state.breaker()}
	}
	for _, one := range a.state.keySets {
		shown := keySetStatus{Issuer: one.issuer}
		if age, some := one.source.Age(); some {
			seconds := age.Seconds()
			shown.AgeSeconds = &seconds
		}
		s.KeySets = append(s.KeySets, shown)
	}
	s.Outbox = a.outboxStatus(ctx)
	for name, to := range map[string]*any{"decision_log": &s.DecisionLog, "shadow": &s.Shadow} {
		if part := a.state.parts[name]; part != nil {
			*to = part(ctx)
		}
	}
	return s
}

func (a *app) policyStatus() policyStatus {
	refusal := a.policy.LastRefusal()
	a.state.mu.Lock()
	defer a.state.mu.Unlock()
	p := policyStatus{Revision: a.policy.Revision(), Since: resources.At(a.state.policySince)}
	if refusal != nil {
		p.Refused = &refusedStatus{At: resources.At(a.state.refusal), Reasons: strings.Split(refusal.Error(), "\n")}
	}
	return p
}

// storeStatus returns the state of the store: ready, unavailable, or lost.
func (a *app) storeStatus(ctx context.Context) storeStatus {
	s := storeStatus{Name: a.settings.Store.Engine(), State: observe.StoreReady}
	var lost error
	if embedded, ok := a.opened.(*sqlite.Store); ok {
		now := embedded.Condition()
		s.ReadOnly, lost = now.ReadOnly, now.Lost
	}
	if err := a.store.Ping(ctx); err != nil {
		s.State, s.Error = observe.StoreUnavailable, err.Error()
	}
	if lost != nil {
		s.State, s.Error = observe.StoreLost, lost.Error()
	}
	return s
}

func (a *app) leaseStatus() *leaseStatus {
	if a.settings.Store.MongoURL == "" {
		return nil
	}
	s := a.cache.State()
	return &leaseStatus{Seconds: a.settings.Store.Lease.Seconds(), AgeSeconds: s.Age.Seconds(), Valid: s.Valid}
}

func (a *app) cachesStatus() *cachesStatus {
	facts := a.cache.State()
	shown := func(entries, room int) cacheStatus { return cacheStatus{entries, room} }
	return &cachesStatus{
		Verdicts: shown(a.policy.CachedVerdicts()), Tokens: shown(a.state.authenticator.CachedTokens()),
		Subjects: shown(facts.Subjects, facts.Room), Shared: shown(facts.Shared, facts.Room), Identities: shown(facts.Identities, facts.Room),
	}
}

// outboxStatus returns null where there is no outbox, or where it can't be counted.
func (a *app) outboxStatus(ctx context.Context) *outboxStatus {
	if a.outbox == nil {
		return nil
	}
	stats, err := a.outbox.Stats(ctx)
	if err != nil {
		return nil
	}
	s := &outboxStatus{Pending: stats.Pending, Dead: stats.Dead}
	if !stats.Oldest.IsZero() {
		s.OldestAgeSeconds = time.Since(stats.Oldest).Seconds()
	}
	return s
}
