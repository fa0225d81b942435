// Package forwardauth reads the calls about which proxies ask: at /forward-auth they are in headers (nginx, Traefik, Caddy),
// at /verify/{original path} the door's own method and path are the call's (Envoy over HTTP, HAProxy, Apache). docs/integrate/proxies.md
// shows both. The edge judges the calls as its own.
//
// 200 lets the call pass, with what the service behind the proxy may rely on in headers; every other
// status keeps it out.
//
// A proxy hands on what its client sent, and replaces what it knows itself. So a call that is told
// in two ways is refused, and every identity header is in the answer, also without a value.
package forwardauth
