package peer

import (
	"context"
	"net"
	"net/http"
)

// ConnectBy has an upstream connect by dial.
func ConnectBy(u *Upstream, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	u.client.Transport.(*http.Transport).DialContext = heard(dial)
}
