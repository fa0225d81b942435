package main

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/health"
)

// readHeaderTimeout bounds a slow client of the private listener.
const readHeaderTimeout = 5 * time.Second

// identified gives every answer of the private listener a request id.
func identified(next http.Handler, ids resources.IDs) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-ID")
		if !gateway.ValidRequestID(id) {
			id = ids.ULID()
		}
		w.Header().Set("X-Request-ID", id)
		next.ServeHTTP(w, r)
	})
}

// serviceName is the name of this service in health reports.
const serviceName = "portcullis"

// newHealthServer answers on the private listener: probes, metrics, the keys of assertions
// and, with --pprof, profiles.
func (a *app) newHealthServer(draining func() bool) *http.Server {
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
	mux := http.NewServeMux()
	health.Routes(mux, health.Config{
		Service: serviceName, Version: version(), Ping: a.store.Ping, Checks: checks, Draining: draining, Now: time.Now,
	})
	mux.Handle("GET /metrics", a.metrics.Handler())
	mux.HandleFunc("GET /status", a.serveStatus)
	mux.HandleFunc("GET /assertions/jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(a.assertions.JWKS()) // a client that is gone needs no answer
	})
	own := newOwnHosts(a.settings.Listeners.Health, a.settings.Listeners.PrivateHosts())
	mux.HandleFunc("GET /policy/tree", own.only(func(w http.ResponseWriter, _ *http.Request) { sendTree(w, a.policy.Source()) }))
	mux.HandleFunc("GET /policy/people", own.only(a.peopleHandler()))
	mux.HandleFunc("GET /decisions", own.only(a.decisionsHandler()))
	if settings.Profiles {
		mux.HandleFunc("GET /debug/pprof/", own.only(pprof.Index))
		mux.HandleFunc("GET /debug/pprof/cmdline", own.only(pprof.Cmdline))
		mux.HandleFunc("GET /debug/pprof/profile", own.only(pprof.Profile))
		mux.HandleFunc("GET /debug/pprof/symbol", own.only(pprof.Symbol))
		mux.HandleFunc("GET /debug/pprof/trace", own.only(pprof.Trace))
	}
	return &http.Server{
		Handler: identified(mux, a.ids), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: a.settings.Limits.Edge.Idle,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
}
