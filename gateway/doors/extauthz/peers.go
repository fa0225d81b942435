package extauthz

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// Trust finds out in the handshake of a connection whether its peer may set context_extensions: trusted says so at each
// check. It may have assertions made for any service, action and path.
type Trust func(net.Conn) (trusted func() bool, err error)

// peers note of each connection what its peer may do. They implement credentials.TransportCredentials; the listener has
// the TLS.
type peers struct{ trust Trust }

// shown is what is known of the peer of a connection.
type shown struct {
	credentials.CommonAuthInfo
	trusted func() bool
}

// AuthType implements credentials.AuthInfo.
func (shown) AuthType() string { return "portcullis" }

var errServerOnly = errors.New("ext_authz: these are the credentials of a server")

// ClientHandshake implements credentials.TransportCredentials.
func (peers) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errServerOnly
}

// ServerHandshake implements credentials.TransportCredentials.
func (p peers) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	trusted, err := p.trust(c)
	if err != nil {
		return nil, nil, err
	}
	return c, shown{trusted: trusted}, nil
}

// Info implements credentials.TransportCredentials.
func (peers) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "portcullis"}
}

// Clone implements credentials.TransportCredentials.
func (p peers) Clone() credentials.TransportCredentials { return p }

// OverrideServerName implements credentials.TransportCredentials.
func (peers) OverrideServerName(string) error { return errServerOnly }

// mayName says whether the peer of a check may set context_extensions.
func mayName(p *peer.Peer) bool {
	if p == nil {
		return false
	}
	s, ok := p.AuthInfo.(shown)
	return ok && s.trusted()
}
