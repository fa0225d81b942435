// Package assertion makes and checks the gateway's signed statement about a call to an upstream:
// the caller, the account, the allowed action and the request.
//
// An upstream with trust in plain headers would trust every client with access to its port. An
// assertion is bound to one request (upstream, request id, method, and hashes of the target, the
// Idempotency-Key and the body) and is valid for 30 seconds. Its key is derived from the master key
// for this purpose alone, and its issuer, type and audience differ from those of every caller's
// token. It does not protect against a client on the wire that repeats the same request at once;
// between processes this is the work of the transport (TLS).
//
// # Rejected
//
//   - A shared secret in a header is valid for every request, and for ever.
//   - The caller's own credential would let an upstream call anything in the caller's name.
package assertion
