package extauthz

import (
	"context"
	"strings"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc/peer"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Route is the name of the door in records, which the catalogue does not have.
const Route = "ext_authz.check"

// maxAudience bounds an audience in bytes.
const maxAudience = 255

// Edge has calls answered within the bounds and the rates of all doors (gateway.Edge).
type Edge interface {
	Foreign(ctx context.Context, c *doors.Foreign) (doors.Vouched, error)
}

// Door answers checks.
type Door struct {
	auth.UnimplementedAuthorizationServer
	Edge Edge
}

// Check implements the service. It never fails: what has no verdict is denied.
func (d *Door) Check(ctx context.Context, req *auth.CheckRequest) (*auth.CheckResponse, error) {
	h := readHeaders(req.GetAttributes().GetRequest().GetHttp())
	client, _ := peer.FromContext(ctx)
	c := doors.Foreign{Route: Route, DoorMethod: "POST", DoorPath: auth.Authorization_Check_FullMethodName}
	named := req.GetAttributes().GetContextExtensions()
	if len(named) > 0 && !mayName(client) {
		named, c.Refused = nil, untrusted
	}
	c.Original, c.Strict = original(req, named, h)
	c.RequestID, _ = h.Identity("X-Request-ID")
	c.Authorization, c.APIKey = h.credential("Authorization", &c.CredentialProblems), h.credential("X-API-Key", &c.CredentialProblems)
	if client != nil {
		c.Peer = client.Addr
	}
	v, err := d.Edge.Foreign(ctx, &c)
	if err != nil {
		return denied(resources.AsError(err), v.RequestID), nil
	}
	return allowed(v, h), nil
}

// validAudience holds an audience to the form that a row's has.
func validAudience(text string) bool {
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	}
	return text != "" && len(text) <= maxAudience && !other(rune(text[0])) &&
		!strings.ContainsFunc(text, func(c rune) bool { return other(c) && !strings.ContainsRune("._:/@-", c) })
}

// untrusted is the reason for a peer without trust: it could be anybody with access to the listener.
const untrusted = "context_extensions are taken from a peer with a certificate of --ext-authz-client-ca-file alone"

// original reads the original call, with what the configuration of the proxy names; strict says that its facts are to be
// read anew.
func original(req *auth.CheckRequest, named map[string]string, h headers) (q doors.Original, strict bool) {
	http := req.GetAttributes().GetRequest().GetHttp()
	q = doors.Original{Headers: h}
	note := func(field, text string) { q.Problems = append(q.Problems, resources.Problem{Field: field, Text: text}) }
	further := func(field, text string) { q.Further = append(q.Further, resources.Problem{Field: field, Text: text}) }
	if http == nil {
		note("attributes.request.http", "must be sent")
	}
	q.Method = http.GetMethod()
	q.Path, q.Query, q.HasQuery = strings.Cut(http.GetPath(), "?")
	if strings.Contains(q.Query, "#") {
		further("query", "holds a #, at which some servers end it")
	}
	var ok bool
	if q.Host, ok = route.ParseHost(http.GetHost()); !ok && http.GetHost() != "" {
		note("Host", route.HostRule)
	}
	consistency, problem := h.Identity("X-Consistency")
	switch {
	case problem != "":
		further("X-Consistency", problem)
	case h.sent("X-Consistency") && consistency != resources.ConsistencyStrict:
		further("X-Consistency", "must be "+resources.ConsistencyStrict+", or not be sent")
	}
	if name, sent := named["action"]; sent {
		action, err := resources.ParseAction(name)
		if err != nil {
			note("context_extensions.action", err.Error())
		}
		q.Action = action
	}
	if audience, sent := named["audience"]; sent {
		if !validAudience(audience) {
			note("context_extensions.audience", "must have 1 to 255 characters of [A-Za-z0-9._:/@-], and begin with a letter or a digit")
		}
		q.Audience = audience
	}
	return q, consistency == resources.ConsistencyStrict
}
