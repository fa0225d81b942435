// Package apidoc holds the OpenAPI document of every endpoint and the page that shows it.
//
// The document is written by hand, as YAML in openapi/, and is what the black box
// tests hold every request and answer against. Rejected: generating it from the
// handlers, which would describe what the code does and so find no mistake in it.
//
// The page is Swagger UI out of a Go module, started by a script of ours: it works
// under a policy that takes nothing from elsewhere and no script from the page itself.
package apidoc
