package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/listen"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/shadow"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/resources/sessions"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
	"github.com/portcullis-authz/portcullis/store/transfer"
)

// core holds what every command that opens the store needs.
type core struct {
	settings *config.Config
	master   resources.MasterKey
	store    store.Store
	// recorded is the store for those whose changes leave records.
	recorded    store.Store
	collections records.Collections
	policy      *engine.Engine
	// feed is nil if the policy comes from no bundle.
	feed     *bundles.Feed
	access   *access.Service
	users    *users.Service
	keys     *apikeys.Service
	clusters *clusters.Service
	firewall *firewall.Service
	ids      resources.IDs
	tokens   wire.PageTokens
	// judge reaches every verdict. A process behind gateways has its part for handlers alone.
	judge *verdict.Judge
	// assertions vouch for callers between processes.
	assertions *assertion.Keys
	// opened is the store itself, without what is around it.
	opened openedStore
}

// openCore reads the master key, loads the policy and opens the store. The key comes first,
// since the proof of the policy takes a second. The store is used through the wrappers; tracer may be nil.
func openCore(
	ctx context.Context, settings *config.Config, options engine.Options, log *slog.Logger, tracer *tracing.Tracer, wrappers ...func(store.Store) store.Store,
) (_ *core, err error) {
	c := &core{settings: settings, collections: records.NewCollections(), ids: resources.IDs{Now: time.Now, Random: rand.Reader}}
	if c.master, err = masterKeyFile(settings.Store).ReadOrMake(); err != nil {
		return nil, err
	}
	if c.policy, c.feed, err = openPolicy(ctx, settings, options, log); err != nil {
		return nil, err
	}
	c.judge = &verdict.Judge{Inside: c.policy.Inside(), IDs: c.ids, Now: time.Now}
	if c.assertions, err = assertion.NewKeys(c.master, c.ids.Now); err != nil {
		return nil, err
	}
	tokens, err := wire.NewPageTokens(c.master.Derive(resources.PurposePageToken))
	if err != nil {
		return nil, err
	}
	c.tokens = tokens
	opened, err := openStore(ctx, settings.Store, c.collections, tracer)
	if err != nil {
		return nil, err
	}
	c.store, c.opened = opened, opened
	for _, wrap := range wrappers {
		c.store = wrap(c.store)
	}
	if err = transfer.Complete(ctx, c.store, c.collections); err == nil {
		err = masterkey.CheckStore(ctx, c.store, c.collections, c.master)
	}
	if err != nil {
		return nil, errors.Join(err, c.store.Close())
	}
	c.recorded = tried{c.newRecorder().Wrap(c.store)}
	keeper := idempotency.New(c.recorded, c.collections, time.Now)
	c.users, c.keys = c.newUsers(keeper, tokens), c.newKeys(keeper)
	c.firewall, c.clusters = c.newAreas(keeper, tokens)
	c.access = access.New(access.Config{
		Store: c.recorded, Collections: c.collections, Judge: c.judge, SystemRoles: c.policy.Roles, Actions: c.policy.ActionUses, Tokens: tokens, IDs: c.ids, Now: time.Now,
		Idempotency: keeper, Invite: c.users.SendInvitation, Release: c.users.Release,
		Occupants: c.occupants(), ChangeRetention: settings.Store.ChangeRetention,
	})
	return c, nil
}

// masterKeyFile returns where the master key is.
func masterKeyFile(s config.Store) masterkey.File {
	return masterkey.File{Path: s.MasterKeyFile, DataDir: s.DataDir, Swept: tellSwept}
}

// app is a running gateway, or a process behind gateways; that one has no outbox, no uses
// and no cache.
type app struct {
	*core
	log     *observe.Log
	metrics *observe.Metrics
	edge    *gateway.Edge
	outbox  *outbox.Worker
	uses    *apikeys.Uses
	cache   *rolecache.Cache
	gates   gates
	// ungated is the store for the cache of facts, whose reads have a gate of their own.
	ungated store.Store
	// shadow is nil without a candidate policy.
	shadow *shadow.Shadow
	// decisions is nil if no verdict is recorded.
	decisions     *decisionlog.Log
	decisionIndex decisionlog.Index
	// certificates is nil without TLS, checks without a listener for Envoy.
	certificates *listen.Certificates
	checks       *extauthz.Server
	// saving is held while the tree in force is written into the store; unsaved says that the last write failed.
	saving  sync.Mutex
	unsaved atomic.Bool
	// keyFiles are the key sets that are files.
	keyFiles []*authn.FileSource
	// served is how many requests were answered.
	served atomic.Uint64
	// tracing is nil if requests are not traced.
	tracing *tracing.Tracer
	state   *state
	// mcp is the door of MCP servers; nil in a process behind gateways.
	mcp            *mcp.Door
	mcpCredentials mcpCredentials
	// sessions are the console's; nil in a process behind gateways.
	sessions *sessions.Service
}

// assemble makes a process that serves from its parts. Key sets are refreshed until ctx ends. The store is used through the
// wrappers.
func assemble(ctx context.Context, settings *config.Config, log *observe.Log, wrappers ...func(store.Store) store.Store) (*app, error) {
	a := &app{log: log, metrics: observe.NewMetrics(), gates: newGates(settings), state: &state{}}
	a.metrics.WatchLog(log)
	a.metrics.Build(version(), commit(), runtime.Version())
	options := engine.Options{
		Deadline:    settings.Policy.Timeout,
		Verdicts:    sizeOrNone(settings.Caches.Verdicts),
		CheckRoutes: func(routes []resources.Route) error { return a.edge.CheckCatalogue(routes) },
		CheckChange: a.askGuards,
		Gate:        a.gates.work,
		Observer: engine.Observer{
			Evaluated: a.metrics.PolicyEvaluated,
			Cached:    a.metrics.VerdictReused,
			Reloaded:  a.reloaded,
			Refused: func(src *policies.Source, err error) {
				a.state.refused(src, err)
				a.metrics.PolicyReloaded(false)
				log.Warn("policy change refused; the last good one stays in force", "error", err.Error())
			},
		},
	}
	var err error
	if err = a.readCertificates(settings.Listeners.TLS); err != nil {
		return nil, err
	}
	a.tracing, err = tracing.Start(ctx, os.Getenv, settings.Log.TrustTraceSampling, version(), func(err error) { log.Warn("tracing: spans can't be exported", "error", err.Error()) })
	if err != nil {
		return nil, err
	}
	gated := func(s store.Store) store.Store {
		a.ungated = a.tracing.Store(s, settings.Store.Engine())
		return inTurns{a.ungated, a.gates.views, a.gates.changes}
	}
	if a.core, err = openCore(ctx, settings, options, log.Logger, a.tracing, append(wrappers, a.metrics.Timed, gated)...); err != nil {
		return nil, err
	}
	if err := a.acceptBase(ctx); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.access.Scans = a.gates.searches
	watchFolder(a.opened, log.Logger)
	if settings.Areas.BehindGateways() {
		a.edge, err = a.newInnerEdge()
	} else {
		err = a.assembleGateway(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.keepPolicy(ctx)
	if a.feed != nil {
		a.feed.Started()
		a.feed.Observe = a.metrics.WatchBundle(bundles.Results()...)
	}
	a.policyInForce(a.policy.Revision())
	a.metrics.WatchStore(func(ctx context.Context) observe.StoreState { return storeMetric(a.storeStatus(ctx)) }, a.opened.Bytes)
	a.metrics.WatchBounds(a.edge, a.allGates())
	return a, nil
}

// assembleGateway adds the parts that only a gateway has.
func (a *app) assembleGateway(ctx context.Context) (err error) {
	a.shadow = a.newShadow()
	a.uses = apikeys.NewUses(apikeys.UsesConfig{Store: a.store, Collections: a.collections, Log: a.log.Logger})
	if a.outbox, err = a.newOutbox(); err != nil {
		return err
	}
	a.metrics.WatchOutbox(a.outbox)
	if a.cache, err = a.newCache(); err != nil {
		return err
	}
	if a.sessions, err = a.newSessions(); err != nil {
		return err
	}
	if err = a.openDecisions(ctx); err != nil {
		return err
	}
	if a.edge, err = a.newEdge(ctx); err != nil {
		return errors.Join(err, a.closeDecisions())
	}
	return nil
}

// observe counts and logs an answered request.
func (a *app) observe(r gateway.Record) {
	a.served.Add(1)
	a.metrics.Request(&r)
	a.log.Request(&r)
}

// policyInForce shows the deciding tree, and the requests its catalogue may bring.
func (a *app) policyInForce(revision string) {
	a.state.took(a.policy.Source())
	a.metrics.PolicyInForce(revision)
	a.metrics.PolicyCodes(a.policy.Codes())
	a.metrics.Routes(a.policy.Routes())
	a.warnMCP()
	if a.checks != nil {
		a.metrics.Routes([]resources.Route{{Name: extauthz.Route}})
	}
}

// reloaded takes a new tree's catalogue into use.
func (a *app) reloaded(revision string) {
	if err := a.edge.SetCatalogue(revision, a.policy.Routes()); err != nil {
		a.log.Error("the new policy's catalogue can't be served; the routes in use stay", "error", err.Error())
		return
	}
	a.metrics.PolicyReloaded(true)
	a.policyInForce(revision)
	a.keepPolicy(context.Background())
	a.log.Info("policy reloaded", "policy_revision", revision)
}

// sizeOrNone returns the size of a cache for packages with a default size at 0 and no cache below it.
func sizeOrNone(entries int) int {
	if entries == 0 {
		return -1
	}
	return entries
}
