// Package exchange gets tokens for upstreams from an authorization server.
//
// A caller's token is exchanged for one of the upstream (RFC 8693), without an actor. The gateway's own calls have no
// caller's token; they use a client-credentials grant (RFC 6749, 4.4) at the same endpoint for the same target (RFC 8707).
//
// # Cache
//
// Tokens are cached in the process, at most 4,096, under the upstream, the MCP server and the SHA-256 of the caller's
// token. An entry ends 10 seconds before its token, and at the end of the caller's. A token without expires_in is used
// once. Concurrent callers with the same key share one request. A caller reaches the cache only after the verdict, so a
// revoked right ends the use of an entry. Refusals are not cached.
//
// # Errors
//
// An error never has a part of a response: the server might repeat a token. It has the status and a known code.
//
// # Rejected
//
//   - The gateway's assertion for its own calls: a server that takes tokens of its authorization server does not know it.
//   - A client of its own: golang.org/x/oauth2 makes the requests, limits the response and parses it.
package exchange
