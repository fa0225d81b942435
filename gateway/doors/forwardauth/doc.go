// Package forwardauth reads the original calls of proxies. At /forward-auth they are in headers (nginx, Traefik,
// Caddy). At /verify/{original path} the door's own method and path are the call's (Envoy over HTTP, HAProxy, Apache).
// docs/integrate/proxies.md shows both. The edge judges the calls as its own.
//
// 200 lets the call pass, with the trusted headers for the service behind the proxy; every other status keeps it out.
//
// A proxy passes its client's headers on, and replaces only those it sets itself. So the door refuses a call with two
// readings, and answers with every identity header, also without a value.
package forwardauth
