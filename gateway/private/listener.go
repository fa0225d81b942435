package private

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/policies"
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

// Listener answers operators and the commands of this program on the private listener: probes, metrics, the status, the
// keys of assertions, the tree in force, the users, decisions and, if Profiles is set, profiles.
type Listener struct {
	// Address is the value of --health-listen, Hosts are further names of the listener.
	Address string
	Hosts   []string
	// Visitors authorizes readers of users and decisions.
	Visitors Visitors
	Health   health.Config
	Metrics  http.Handler
	Status   func(context.Context) Status
	// Assertions vouch for other gateways; their public keys are published.
	Assertions *assertion.Keys
	// Tree returns the tree in force.
	Tree func() *policies.Source
	// History is what the process took and refused.
	History   *History
	People    People
	Decisions Decisions
	// Sessions are those of the console; nil has none.
	Sessions Sessions
	Profiles bool
	// Idle is how long a connection may be without a request.
	Idle time.Duration
	IDs  resources.IDs
	Log  *slog.Logger
}

// Server returns the server of the listener.
func (l *Listener) Server() *http.Server {
	mux := http.NewServeMux()
	health.Routes(mux, l.Health)
	mux.Handle("GET /metrics", l.Metrics)
	mux.HandleFunc("GET /status", l.status)
	mux.HandleFunc("GET /assertions/jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(l.Assertions.JWKS()) // a client that is gone needs no answer
	})
	hosts := newOwnHosts(l.Address, l.Hosts)
	mux.HandleFunc("GET /policy/tree", hosts.only(func(w http.ResponseWriter, _ *http.Request) { sendTree(w, l.Tree()) }))
	mux.HandleFunc("GET /policy/history", hosts.only(l.History.ServeHTTP))
	mux.HandleFunc("GET /policy/people", hosts.only(l.people()))
	mux.HandleFunc("GET /decisions", hosts.only(l.decisions()))
	mux.HandleFunc("POST /console/links", hosts.only(l.links))
	mux.HandleFunc("POST "+sessionsPath+"{do}", hosts.only(l.sessions))
	mux.HandleFunc("POST "+pageTarget, hosts.only(l.page))
	if l.Profiles { // without cmdline: the command line may have passwords
		mux.HandleFunc("GET /debug/pprof/", hosts.only(pprof.Index))
		mux.HandleFunc("GET /debug/pprof/profile", hosts.only(pprof.Profile))
		mux.HandleFunc("GET /debug/pprof/symbol", hosts.only(pprof.Symbol))
		mux.HandleFunc("GET /debug/pprof/trace", hosts.only(pprof.Trace))
	}
	return &http.Server{
		Handler: identified(mux, l.IDs), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: l.Idle,
		ErrorLog: slog.NewLogLogger(l.Log.Handler(), slog.LevelWarn),
	}
}
