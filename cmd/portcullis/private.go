package main

import (
	"context"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies/analysis/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/health"
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
		checks[health.CheckNotifications] = a.butOnAFullDisk(a.outbox.Check)
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
			Authn: a.state.authenticator, Judge: a.judge, Row: func(name string) *catalogue.Row { return a.edge.Rows().Named(name) },
		},
		Health: health.Config{
			Service: serviceName, Version: version(), Ping: a.store.Ping, Checks: checks, Draining: draining, Now: time.Now,
		},
		Metrics: a.metrics.Handler(), Status: a.status, Keys: a.assertions.JWKS, Tree: a.policy.Source,
		People: func(ctx context.Context, seen func(string) (bool, error), add func(people.Person) error) (people.Facts, error) {
			return eachPerson(ctx, a.store, a.collections, resources.At(time.Now()), seen, add)
		},
		Profiles: settings.Profiles, Idle: a.settings.Limits.Edge.Idle, IDs: a.ids, Log: a.log.Logger,
	}
	if a.decisions != nil {
		l.Decisions = private.Decisions{Dir: a.settings.Store.DecisionsDir(), Input: engine.RecordedInput}
	}
	return l
}
