package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

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

// storeMetric returns the state of the store as metrics show it.
func storeMetric(s private.StoreStatus) observe.StoreState {
	if s.ReadOnly && s.State == string(observe.StoreReady) {
		return observe.StoreReadOnly
	}
	return observe.StoreState(s.State)
}

// status returns what the private listener tells at /status.
func (a *app) status(ctx context.Context) private.Status {
	s := private.Status{Version: version(), Policy: a.policyStatus(), Stores: []private.StoreStatus{a.storeStatus(ctx)}, KeySets: []private.KeySetStatus{}}
	if a.cache != nil {
		s.Lease, s.Caches = a.leaseStatus(), a.cachesStatus()
	}
	if a.state.breaker != nil {
		s.Redis = &private.RedisStatus{Breaker: a.state.breaker()}
	}
	for _, one := range a.state.keySets {
		shown := private.KeySetStatus{Issuer: one.issuer}
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

func (a *app) policyStatus() private.PolicyStatus {
	refusal := a.policy.LastRefusal()
	a.state.mu.Lock()
	defer a.state.mu.Unlock()
	p := private.PolicyStatus{Revision: a.policy.Revision(), Since: resources.At(a.state.policySince)}
	if refusal != nil {
		p.Refused = &private.RefusedStatus{At: resources.At(a.state.refusal), Reasons: strings.Split(refusal.Error(), "\n")}
	}
	return p
}

// storeStatus returns the state of the store: ready, unavailable, or lost.
func (a *app) storeStatus(ctx context.Context) private.StoreStatus {
	s := private.StoreStatus{Name: a.settings.Store.Engine(), State: string(observe.StoreReady)}
	var lost error
	if embedded, ok := a.opened.(*sqlite.Store); ok {
		now := embedded.Condition()
		s.ReadOnly, lost = now.ReadOnly, now.Lost
	}
	if err := a.store.Ping(ctx); err != nil {
		s.State, s.Error = string(observe.StoreUnavailable), err.Error()
	}
	if lost != nil {
		s.State, s.Error = string(observe.StoreLost), lost.Error()
	}
	return s
}

func (a *app) leaseStatus() *private.LeaseStatus {
	if a.settings.Store.MongoURL == "" {
		return nil
	}
	s := a.cache.State()
	return &private.LeaseStatus{Seconds: a.settings.Store.Lease.Seconds(), AgeSeconds: s.Age.Seconds(), Valid: s.Valid}
}

func (a *app) cachesStatus() *private.CachesStatus {
	facts := a.cache.State()
	shown := func(entries, room int) private.CacheStatus { return private.CacheStatus{Entries: entries, Most: room} }
	return &private.CachesStatus{
		Verdicts: shown(a.policy.CachedVerdicts()), Tokens: shown(a.state.authenticator.CachedTokens()),
		Subjects: shown(facts.Subjects, facts.Room), Shared: shown(facts.Shared, facts.Room), Identities: shown(facts.Identities, facts.Room),
	}
}

// outboxStatus returns null where there is no outbox, or where it can't be counted.
func (a *app) outboxStatus(ctx context.Context) *private.OutboxStatus {
	if a.outbox == nil {
		return nil
	}
	stats, err := a.outbox.Stats(ctx)
	if err != nil {
		return nil
	}
	s := &private.OutboxStatus{Pending: stats.Pending, Dead: stats.Dead}
	if !stats.Oldest.IsZero() {
		s.OldestAgeSeconds = time.Since(stats.Oldest).Seconds()
	}
	return s
}
