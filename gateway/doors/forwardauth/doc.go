// Package forwardauth holds the doors for proxies that ask before each call: /forward-auth, to which
// headers tell the call (nginx, Traefik, Caddy), and /verify/{original path}, whose own method and
// path are the call's (Envoy over HTTP, HAProxy, Apache). docs/integrate/proxies.md shows both.
//
// 200 lets the call pass, with what the service behind the proxy may rely on in headers; every other
// status keeps it out. The rules of both are those of gateway/doors/original.
//
// A proxy hands on what its client sent, and replaces what it knows itself. So a call that is told
// in two ways is refused, and every identity header is in the answer, also without a value.
package forwardauth
