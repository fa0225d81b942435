package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/assertion"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/resources/users"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// These are the names under which the catalogue finds the
// handlers of this process.
const (
	upstreamAccess = "access"
	upstreamKeys   = "keys"
	upstreamUsers  = "users"
	upstreamAPI    = "apikeys"
	upstreamDoc    = "apidoc"

	upstreamClusters = "clusters"
	upstreamFirewall = "firewall"
)

// builtIn are those that can't be in another process.
func builtIn() []string {
	return []string{upstreamAccess, upstreamKeys, upstreamUsers, upstreamAPI, upstreamDoc, gateway.UpstreamAuthorize}
}

// core is what every command that opens the data folder needs.
type core struct {
	master      resources.MasterKey
	store       store.Store
	collections records.Collections
	policy      *engine.Engine
	access      *access.Service
	users       *users.Service
	keys        *apikeys.Service
	clusters    *clusters.Service
	firewall    *firewall.Service
	ids         resources.IDs
	// assertions vouch for callers between processes.
	assertions *assertion.Keys
}

// openCore opens the data folder and loads the policy.
func (s *settings) openCore(ctx context.Context, options engine.Options) (_ *core, err error) {
	c := &core{collections: records.NewCollections(), ids: resources.IDs{Now: time.Now, Random: rand.Reader}}
	if c.master, err = s.masterKeyIn().ReadOrMake(); err != nil { // before the policy, whose proof takes a second
		return nil, err
	}
	if c.policy, err = engine.New(ctx, s.policyTree(), options); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if c.assertions, err = assertion.NewKeys(c.master, c.ids.Now); err != nil {
		return nil, err
	}
	tokens, err := wire.NewPageTokens(c.master.Derive(resources.PurposePageToken))
	if err != nil {
		return nil, err
	}
	opened, err := s.openStore(ctx, c.collections)
	if err != nil {
		return nil, err
	}
	if err := masterkey.CheckStore(ctx, opened, c.collections, c.master); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	c.store = opened
	keeper := idempotency.New(c.store, c.collections, time.Now)
	c.users, c.keys = s.newUsers(c, keeper, tokens), newKeys(c, keeper)
	s.newAreas(c, keeper, tokens)
	c.access = access.New(access.Config{
		Store: c.store, Collections: c.collections, Judge: c.policy.Inside(), Tokens: tokens, IDs: c.ids, Now: time.Now,
		Idempotency: keeper, Invite: c.users.SendInvitation, Release: c.users.Release,
		Occupants: s.occupants(c),
	})
	return c, nil
}

// masterKeyIn is the file of the master key.
func (s *settings) masterKeyIn() masterkey.File {
	return masterkey.File{Path: s.masterKeyFile, DataDir: s.dataDir}
}

// policyTree is the operator's folder, or the embedded tree.
func (s *settings) policyTree() fs.FS {
	if s.policyDir != "" {
		return engine.Dir(s.policyDir)
	}
	return policies.Tree()
}

// app is a running gateway, or a process behind gateways: that one has neither mail nor
// keys of its own.
type app struct {
	*core
	log     *observe.Log
	metrics *observe.Metrics
	edge    *gateway.Edge
	outbox  *outbox.Worker
	uses    *apikeys.Uses
	cache   *rolecache.Cache
	gates   gates
}

// assemble makes the gateway from its parts.
func (s *settings) assemble(ctx context.Context, log *observe.Log) (*app, error) {
	a := &app{log: log, metrics: observe.NewMetrics(), gates: s.newGates()}
	a.metrics.WatchLog(log)
	options := engine.Options{
		Deadline:    s.policyTimeout,
		Memo:        orNone(s.kept.verdicts),
		CheckRoutes: func(routes []resources.Route) error { return a.edge.CheckCatalogue(routes) },
		Gate:        a.gates.work,
		Observer: engine.Observer{
			Evaluated:  a.metrics.PolicyEvaluated,
			Remembered: a.metrics.VerdictReused,
			Reloaded:   a.reloaded,
			Refused: func(err error) {
				a.metrics.PolicyReloaded(false)
				log.Error("policy change refused; the last good one stays in force", "error", err.Error())
			},
		},
	}
	var err error
	if a.core, err = s.openCore(ctx, options); err != nil {
		return nil, err
	}
	if s.role == roleResources {
		a.edge, err = s.newInner(a)
	} else {
		err = s.assembleGateway(ctx, a)
	}
	if err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.metrics.PolicyInForce(a.policy.Revision())
	a.metrics.WatchBounds(a.edge, a.allGates())
	return a, nil
}

// assembleGateway adds what only a gateway has.
func (s *settings) assembleGateway(ctx context.Context, a *app) (err error) {
	a.uses = apikeys.NewUses(apikeys.UsesConfig{Store: a.store, Collections: a.collections, Log: a.log.Logger})
	if a.outbox, err = s.newOutbox(a.core, a.metrics, a.log.Logger); err != nil {
		return err
	}
	a.metrics.WatchOutbox(a.outbox)
	a.edge, err = s.newEdge(ctx, a)
	return err
}

// observe counts and logs an answered request.
func (a *app) observe(r gateway.Record) {
	a.metrics.Request(&r)
	a.log.Request(&r)
}

// reloaded takes a new tree's catalogue into use.
func (a *app) reloaded(revision string) {
	if err := a.edge.SetCatalogue(a.policy.Routes()); err != nil {
		a.log.Error("the new policy's catalogue can't be served; the routes in use stay", "error", err.Error())
		return
	}
	a.metrics.PolicyReloaded(true)
	a.metrics.PolicyInForce(revision)
	a.log.Info("policy reloaded", "policy_revision", revision)
}

func (s *settings) newEdge(ctx context.Context, a *app) (*gateway.Edge, error) {
	cache, err := s.newCache(a)
	if err != nil {
		return nil, err
	}
	a.cache = cache
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		return nil, err
	}
	authenticator, err := s.authenticator(ctx, a, cache, signer)
	if err != nil {
		return nil, err
	}
	rates, err := s.newRates(a)
	if err != nil {
		return nil, err
	}
	doc, err := apidoc.New()
	if err != nil {
		return nil, err
	}
	handlers := map[string]wire.Routes{
		upstreamAccess: a.access.Routes(), upstreamUsers: a.users.Routes(), upstreamAPI: a.keys.Routes(),
		upstreamKeys: s.keyRoutes(signer), upstreamDoc: doc.Routes(),
	}
	for name, area := range s.localAreas(a.core) {
		handlers[name] = area.Routes
	}
	judge := &verdict.Judge{Policy: a.policy, Facts: cache, IDs: a.ids, Now: time.Now}
	return gateway.New(gateway.Config{
		Judge: judge, Authn: authenticator, Doors: map[string]doors.Door{"authorization.check": e3.Door{Judge: judge, DenyStatus: s.denyStatus}},
		Catalogue: a.policy.Routes(), Handlers: handlers,
		Upstreams: s.bases, Assertions: a.assertions,
		Limits: s.limits, Rates: rates, IDs: a.ids, Now: time.Now, Log: a.log.Logger, Observe: a.observe,
	})
}

// keyRoutes serves the data folder's public keys while it signs.
func (s *settings) keyRoutes(signer *authn.Signer) wire.Routes {
	return wire.Routes{"jwks.get": func(context.Context, *wire.Request) (wire.Response, error) {
		if s.outside() {
			return wire.Response{}, resources.NotFound("key set: tokens come from an outside issuer")
		}
		return wire.OK(json.RawMessage(signer.JWKS()))
	}}
}
