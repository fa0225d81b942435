package gateway

import (
	"context"
	"reflect"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
)

// lookAgain is the pause between two looks for the rows of a tree in force. They come within milliseconds.
const lookAgain = time.Millisecond

// holdTree refuses an allowed call whose row is in another tree than the verdict's. A reload may have come while the body
// arrived. With a row of both trees the call goes on.
func (e *Edge) holdTree(x *exchange, allowed *verdict.Outcome) error {
	if allowed.PolicyRevision == x.table.revision {
		return nil
	}
	t := e.tableAfter(x.ctx, x.table)
	row, err := x.matchIn(t)
	if err != nil || row.Row == nil || t.revision != allowed.PolicyRevision || !reflect.DeepEqual(row.Route, x.match.Route) {
		return doors.PolicyChanged(err)
	}
	x.table = t
	return nil
}

// tableAfter returns the table in use, which the edge may be about to replace. It returns the same one after the end of ctx.
func (e *Edge) tableAfter(ctx context.Context, before *routeTable) *routeTable {
	for {
		if t := e.routes.Load(); t != before {
			return t
		}
		select {
		case <-ctx.Done():
			return before
		case <-time.After(lookAgain):
		}
	}
}

// matchIn returns the row of the call in a table, or of the original call.
func (x *exchange) matchIn(t *routeTable) (route.Match, error) {
	if x.original != nil {
		return x.original.Find(t.Index)
	}
	return t.Served(x.host(t), x.method, x.path, nil), nil
}

// host returns the host that decides between the rows of a table, "" for a table without rows of hosts.
func (x *exchange) host(t *routeTable) (host string) {
	if t.ByHost() { // frame has found it well-formed
		host, _ = route.ParseHost(string(x.raw.Request.Header.Host()))
	}
	return host
}
