package private

import (
	"context"
	"net"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// What tests of the package see of its inside.
const (
	MaxRefusal = maxRefusal
	Unordered  = unordered
)

// ReadQuery is readQuery.
func ReadQuery(raw string) (Query, error) { return readQuery(raw) }

// ConnectBy has a fleet connect by dial.
func ConnectBy(f *Fleet, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	f.client.Transport.(*http.Transport).DialContext = dial
}

// Overlap is overlap.
type Overlap struct{ overlap }

// Before is overlap.before.
func (o *Overlap) Before(e *decisionlog.Event) bool { return o.before(e) }

// From is overlap.from.
func (o *Overlap) From(began resources.Time) resources.Time { return o.begin(began) }

// Known returns how many decisions are remembered.
func (o *Overlap) Known() int { return len(o.times) }
