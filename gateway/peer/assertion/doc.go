// Package assertion makes and checks the signed statement with which the gateway passes a caller
// on to an upstream: the caller, the account, the allowed action and the request.
//
// An upstream that trusted plain headers would trust every client that reaches its port. An
// assertion is bound to one request (upstream, request id, method, and hashes of the target, the
// Idempotency-Key and the body) and is valid for 30 seconds. Its key is derived from the master
// key for this purpose alone, and its issuer, type and audience fit no token that a caller sends.
// It does not protect against a client that reads the wire and repeats the same request at once;
// between processes that is the work of the transport (TLS).
//
// # Rejected
//
//   - A shared secret in a header is valid for every request, and for ever.
//   - The caller's own credential would let an upstream call anything in the caller's name.
package assertion
