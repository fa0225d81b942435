package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/gateway/doors/forwardauth"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/preview"
	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/redis"
)

func (a *app) newEdge(ctx context.Context) (*gateway.Edge, error) {
	signer, err := authn.NewSigner(a.master)
	if err != nil {
		return nil, err
	}
	authenticator, err := a.newAuthenticator(ctx, signer)
	if err != nil {
		return nil, err
	}
	rates, err := a.newRates()
	if err != nil {
		return nil, err
	}
	handlers := map[string]wire.Routes{
		config.UpstreamKeys: keySetRoutes(a.settings.Credentials, signer), config.UpstreamAPIDoc: apidoc.New().Routes(), config.UpstreamDecisions: a.newDecisionsArea().Routes(),
	}
	for name, routes := range map[string]wire.Routes{
		config.UpstreamAccess: a.access.Routes(), config.UpstreamUsers: a.users.Routes(), config.UpstreamAPIKeys: a.keys.Routes(),
	} {
		handlers[name] = changes.Attributed(routes)
	}
	for name, area := range a.localAreas() {
		handlers[name] = area.Routes
	}
	a.judge.Pin = func() verdict.Tree { return a.tracing.Tree(a.policy.Pin()) } // a gateway alone has these
	a.judge.Facts, a.judge.Log = a.tracing.Facts(a.cache), a.recordTo()
	a.state.authenticator = authenticator
	if a.mcp, err = a.newMCP(); err != nil {
		return nil, err
	}
	edge, err := gateway.New(gateway.Config{
		Judge: a.judge, Authn: a.tracing.Authn(authenticator), Tracing: a.edgeTracing(), Doors: a.newDoors(),
		SubRequests: map[string]doors.SubRequest{"forward_auth.check": forwardauth.InHeaders, "forward_auth.verify": forwardauth.InPath},
		Catalogue:   a.policy.Routes(), Revision: a.policy.Revision(), Handlers: handlers,
		Upstreams: a.edgeUpstreams(), Assertions: a.assertions, Certificates: a.certificates,
		Limits: a.settings.Limits.Edge, Rates: rates, IDs: a.ids, Now: time.Now, Log: a.log.Logger, Observe: a.observe,
	})
	if err == nil && a.settings.Listeners.ExtAuthz != "" {
		l := a.settings.Limits.Edge
		a.checks = extauthz.NewServer(&extauthz.Door{Edge: edge},
			extauthz.Limits{Header: l.Header, Read: l.Read, Write: l.Write, Idle: l.Idle, Handle: l.Handle, Requests: l.Requests}, a.certificates.Proxy, a.log.Logger)
	}
	return edge, err
}

// newDoors returns the doors by the names of their routes.
func (a *app) newDoors() map[string]doors.Door {
	questions := authzen.Questions{Judge: a.judge, Observe: a.metrics.Decided}
	metadata := authzen.Metadata{Base: a.settings.Listeners.PublicURL}
	return map[string]doors.Door{
		"authorization.check":           e3.Door{Judge: a.judge, DenyStatus: a.settings.Policy.DenyStatus},
		"authorization.explain":         a.newExplain(),
		"account.preview":               preview.Door{Judge: a.judge, Changes: a.access, Turns: a.gates.batches, Now: time.Now},
		"authzen.evaluation":            authzen.Evaluation{Questions: questions},
		"authzen.evaluations":           authzen.Evaluations{Questions: questions, Most: a.settings.Limits.MaxEvaluations, Turns: a.gates.batches},
		"authzen.search_subject":        a.newSearch(authzen.Subjects, questions),
		"authzen.search_resource":       a.newSearch(authzen.Resources, questions),
		"authzen.search_action":         a.newSearch(authzen.Actions, questions),
		"authzen.configuration":         metadata,
		"authzen.configuration_of_path": metadata,
		"mcp.call":                      a.mcp,
		"mcp.resource_metadata":         mcp.Metadata{Door: a.mcp, Issuers: a.settings.Credentials.TokenIssuers()},
	}
}

// edgeTracing returns nil if requests are not traced: a nil tracer in the interface would not be nil.
func (a *app) edgeTracing() gateway.Tracing {
	if a.tracing == nil {
		return nil
	}
	return a.tracing
}

// keySetRoutes serves the public keys of the data folder, unless an outside issuer signs
// tokens.
func keySetRoutes(credentials config.Credentials, signer *authn.Signer) wire.Routes {
	return wire.Routes{"jwks.get": func(context.Context, *wire.Request) (wire.Response, error) {
		if credentials.Outside() {
			return wire.Response{}, resources.NotFound("key set: tokens come from an outside issuer")
		}
		return wire.OK(json.RawMessage(signer.JWKS()))
	}}
}

// newInnerEdge makes the edge of a process behind gateways.
func (a *app) newInnerEdge() (*gateway.Edge, error) {
	return gateway.NewInner(gateway.Config{
		Catalogue: a.policy.Routes(), Assertions: a.assertions, Certificates: a.certificates,
		Limits: a.settings.Limits.Edge, IDs: a.ids, Now: a.ids.Now, Log: a.log.Logger, Observe: a.observe, Tracing: a.edgeTracing(),
	}, a.localAreas())
}

// newRates makes the configured limiters. Replicas with a Redis share all but the limiter of failures: it protects the
// process.
func (a *app) newRates() (gateway.Rates, error) {
	r, shared := a.settings.Rates.Limits(), ratelimit.Shared(nil)
	if a.settings.Store.RedisURL != "" && r.LimitCallers() {
		client, err := redis.NewClient(a.settings.Store.RedisURL)
		if err != nil {
			return gateway.Rates{}, fmt.Errorf("--redis-url: %w", err)
		}
		shared = a.tracing.Rates(client.Buckets(a.master.Derive(resources.PurposeRate)[0], redisChanged(a.log.Logger,
			"rates are shared again", "rates can't be shared; each gateway holds callers to the whole rate by itself")))
	}
	limiter := func(name string, rate ratelimit.Rate, shared ratelimit.Shared) *ratelimit.Limiter {
		return ratelimit.New(ratelimit.Options{Name: name, Rate: rate, Shared: shared, Now: time.Now})
	}
	return gateway.Rates{
		Principal: limiter(gateway.LimitPrincipal, r.Principal, shared), Service: limiter(gateway.LimitService, r.Service, shared),
		Account: limiter(gateway.LimitAccount, r.Account, shared), Failures: limiter(gateway.LimitFailures, r.Failures, nil),
	}, nil
}
