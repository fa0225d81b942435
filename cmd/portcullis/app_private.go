package main

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/health"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// serviceName is the name of this service in health reports.
const serviceName = "portcullis"

// newPrivate makes the private listener.
func (a *app) newPrivate(draining func() bool) *private.Listener {
	settings := a.settings.Health
	client := &http.Client{Timeout: 2 * time.Second}
	checks := map[string]health.Check{
		health.CheckDatabase:      a.store.Check,
		health.CheckAccounts:      a.store.Ping,
		health.CheckNotifications: a.store.Check,
	}
	if a.outbox != nil {
		checks[health.CheckNotifications] = butOnAFullDisk(a.opened, a.outbox.Check)
	}
	if settings.Accounts != "" {
		checks[health.CheckAccounts] = health.Remote(client, settings.Accounts)
	}
	if settings.Notifications != "" {
		checks[health.CheckNotifications] = health.Remote(client, settings.Notifications)
	}
	l := &private.Listener{
		Address: a.settings.Listeners.Health, Hosts: a.settings.Listeners.PrivateHosts(),
		Visitors: private.Visitors{
			Authn: a.state.authenticator, Judge: a.judge, Row: func(name string) *route.Row { return a.edge.Rows().Named(name) },
		},
		Health: health.Config{
			Service: serviceName, Version: version(), Ping: a.store.Ping, Checks: checks, Draining: draining, Now: time.Now,
		},
		Metrics: a.metrics.Handler(), Status: a.status, Assertions: a.assertions, Tree: a.policy.Source, History: &a.state.history,
		People: func(ctx context.Context, seen func(string) (bool, error), add func(people.Person) error) (people.Facts, error) {
			return eachPerson(ctx, a.store, a.collections, resources.At(time.Now()), seen, add)
		},
		Profiles: settings.Profiles, Idle: a.settings.Limits.Edge.Idle, IDs: a.ids, Log: a.log.Logger,
	}
	if a.decisions != nil {
		l.Decisions = private.Decisions{Dir: a.settings.Store.DecisionsDir(), Input: engine.RecordedInput, Own: a.ownDecisions()}
	}
	if a.sessions != nil {
		l.Sessions = consoleSessions{a.sessions}
	}
	return l
}

// state is what the process knows of itself for its status alone.
type state struct {
	mu                   sync.Mutex
	policySince, refusal time.Time
	history              private.History
	// breaker is nil without a shared cache, authenticator in a process behind gateways.
	breaker       func() string
	authenticator *authn.Authenticator
	keySets       []keySet
}

// keySet is the key set of an issuer.
type keySet struct {
	issuer string
	source agingSource
}

// took notes that a policy tree has come into force.
func (s *state) took(src *policies.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policySince = time.Now()
	s.history.Add(private.PolicyEntry{
		Revision: src.Revision, BundleRevision: src.Bundle, At: resources.At(s.policySince), Outcome: private.OutcomeTaken, Reasons: []string{},
	})
}

// refused notes that a changed policy tree was not taken; the source is nil if it could not be read.
func (s *state) refused(src *policies.Source, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = time.Now()
	e := private.PolicyEntry{At: resources.At(s.refusal), Outcome: private.OutcomeRefused, Reasons: strings.Split(err.Error(), "\n")}
	if src != nil {
		e.Revision, e.BundleRevision = src.Revision, src.Bundle
	}
	s.history.Add(e)
}

// storeMetric returns the state of the store as metrics show it.
func storeMetric(s private.StoreStatus) observe.StoreState {
	if s.ReadOnly && s.State == string(observe.StoreReady) {
		return observe.StoreReadOnly
	}
	return observe.StoreState(s.State)
}

// status returns the private listener's answer at /status.
func (a *app) status(ctx context.Context) private.Status {
	s := private.Status{Version: version(), Policy: a.state.policy(a.policy), Stores: []private.StoreStatus{a.storeStatus(ctx)}, KeySets: []private.KeySetStatus{}}
	if a.cache != nil {
		facts := a.cache.State()
		if a.settings.Store.MongoURL != "" {
			s.Lease = &private.LeaseStatus{Seconds: a.settings.Store.Lease.Seconds(), AgeSeconds: facts.Age.Seconds(), Valid: facts.Valid}
		}
		shown := func(entries, room int) private.CacheStatus { return private.CacheStatus{Entries: entries, Most: room} }
		s.Caches = &private.CachesStatus{
			Verdicts: shown(a.policy.CachedVerdicts()), Tokens: shown(a.state.authenticator.CachedTokens()),
			Subjects: shown(facts.Subjects, facts.Room), Shared: shown(facts.Shared, facts.Room), Identities: shown(facts.Identities, facts.Room),
		}
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
	if a.outbox != nil {
		s.Outbox = outboxStatus(ctx, a.outbox)
	}
	if a.decisions != nil {
		now := a.decisions.Stats()
		s.DecisionLog = decisionLogStatus{a.settings.Decisions.Mode, now.Written, now.Lost, now.LostOf, now.Failures, now.Waiting, now.Unsent}
	}
	if a.shadow != nil {
		s.Shadow = a.shadow.Status()
	}
	return s
}

// policy returns the status of the policy in force and of the last tree that was not taken.
func (s *state) policy(inForce *engine.Engine) private.PolicyStatus {
	refusal := inForce.LastRefusal()
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := inForce.Source()
	p := private.PolicyStatus{Revision: tree.Revision, Base: tree.Base, Own: tree.Own, Since: resources.At(s.policySince)}
	if refusal != nil {
		p.Refused = &private.RefusedStatus{At: resources.At(s.refusal), Reasons: strings.Split(refusal.Error(), "\n")}
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

// outboxStatus returns nil if the outbox can't be counted.
func outboxStatus(ctx context.Context, mail *outbox.Worker) *private.OutboxStatus {
	stats, err := mail.Stats(ctx)
	if err != nil {
		return nil
	}
	s := &private.OutboxStatus{Pending: stats.Pending, Dead: stats.Dead}
	if !stats.Oldest.IsZero() {
		s.OldestAgeSeconds = time.Since(stats.Oldest).Seconds()
	}
	return s
}
