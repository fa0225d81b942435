package peer

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// RefusedHeader reports to a gateway that its assertion was refused, or its route is unknown here. Its caller then gets no
// advice to sign in again, and no 404.
const RefusedHeader = ownPrefix + "Assertion-Refused"

// WaitHeader has the milliseconds after the arrival of a request in which its client waits for another answer. The process
// behind the gateway sends it with an answer that may come too soon.
const WaitHeader = ownPrefix + "Wait"

// ownPrefix begins the names of the headers in which gateways and areas speak to each other.
const ownPrefix = "X-Portcullis-"

// Passed returns the caller's headers that reach an upstream. All others stay behind: the credential,
// hop-by-hop headers, and claims of an identity under any name.
func Passed() []string {
	return []string{
		"Accept", "Accept-Language", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "User-Agent",
		"Traceparent", "Tracestate",
	}
}

// mcpParam begins the names of headers that repeat a tool's arguments.
const mcpParam = "Mcp-Param-"

// mcpPasses says whether a header is one of MCP's.
func mcpPasses(name string) bool {
	switch name {
	case "Accept", "Last-Event-Id", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name":
		return true
	}
	return strings.HasPrefix(name, mcpParam)
}

// outgoing returns the headers of a call to an upstream but for those about the caller: the call's harmless ones, and
// those of MCP.
func outgoing(header, further http.Header) http.Header {
	out := http.Header{"User-Agent": nil} // else the client adds its own
	for _, name := range Passed() {
		if values := header.Values(name); len(values) > 0 {
			out[name] = values
		}
	}
	for name, values := range further {
		if name = http.CanonicalHeaderKey(name); mcpPasses(name) {
			out[name] = values
		}
	}
	return out
}

// identify adds the identity headers. An upstream can trust them, since nothing else reaches it under these names.
func identify(out http.Header, said *assertion.Statement) {
	if said.Principal.Kind != resources.PrincipalNone {
		out.Set("X-User-ID", said.Principal.ID)
		out.Set("X-Principal-Kind", said.Principal.Kind)
	}
	if said.Account != "" {
		out.Set("X-Account-ID", said.Account)
	}
	if said.Action != "" {
		out.Set("X-Action", said.Action)
	}
}

// PassesBack says whether a header of an upstream's answer is the caller's, too. Some servers read
// an underscore as a hyphen.
func PassesBack(name string) bool {
	if !httpguts.ValidHeaderFieldName(name) {
		return false
	}
	read := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	switch read {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade": // hop-by-hop (RFC 9110, 7.6.1)
		return false
	case "Content-Length", "Server", "Date", "X-Request-Id", "X-Decision-Id", "X-Policy-Revision", "X-Policy-Bundle-Revision", "X-Account-Revision": // the gateway's own
		return false
	case "X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind", "Authorization", "X-Api-Key":
		return false // a server in front might take an echo for the gateway's word
	}
	return !strings.HasPrefix(read, ownPrefix)
}
