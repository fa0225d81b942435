package gateway

import (
	"context"
	"net"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Listener returns a listener of another protocol (its name in ALPN), on which proxies ask. Its connections count as the
// edge's own and have its TLS.
func (e *Edge) Listener(l net.Listener, protocol string) net.Listener {
	return e.open.Listener(l, e.cfg.Certificates.ProxyConfig(protocol))
}

// Foreign answers a call about an original one that came in another protocol. It goes through the edge's own steps: within
// the bounds of requests under way, for an authenticated caller within their rates, in the time of any request. It is
// recorded like one of HTTP with the status that it would have. Errors are *resources.Error.
func (e *Edge) Foreign(ctx context.Context, c *doors.Foreign) (doors.Vouched, error) {
	x := e.begin(ctx, nil)
	x.foreign, x.table, x.method = c, e.routes.Load(), c.DoorMethod
	x.record = Record{
		RequestID: c.RequestID, Method: c.DoorMethod, Path: c.DoorPath, Scheme: e.scheme(), Route: c.Route, Template: c.DoorPath, Status: 200,
	}
	defer x.lifetime.end()
	if c.Strict {
		x.lifetime.parent = resources.WithStrict(x.lifetime.parent)
	}
	if !ValidRequestID(x.record.RequestID) {
		x.record.RequestID = e.cfg.IDs.ULID()
	}
	x.trace()
	x.askedAbout(&c.Original)
	x.public = x.public && c.Refused == ""
	err := e.run(x, e.foreign)
	var domain *resources.Error
	if err != nil {
		domain = x.record.failed(err)
		x.record.Status = wire.Status(domain.Kind)
	}
	x.leave()
	x.ended()
	if domain != nil {
		return doors.Vouched{RequestID: x.record.RequestID}, domain
	}
	r := &x.record
	return doors.Vouched{
		Headers: x.vouched, RequestID: r.RequestID,
		DecisionID: r.DecisionID, Reason: r.Reason, PolicyRevision: r.PolicyRevision, AccountRevision: x.accountRevision,
	}, nil
}
