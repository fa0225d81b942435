// Package apidoc serves the OpenAPI document of all endpoints, and its page.
//
// The document is YAML in openapi/, written by hand. The black-box tests compare every request and
// response with it.
//
// The page is Swagger UI from a Go module. A script of this package starts it, so it works under a
// Content-Security-Policy without inline scripts and foreign hosts.
//
// # Rejected
//
// A document generated from the handlers: it would describe what the code does, mistakes included.
package apidoc
