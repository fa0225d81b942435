// Package assertion is how the gateway vouches for a caller to an upstream: a signed
// statement of who calls, for which account, with which request.
//
// An upstream that trusted headers alone would trust everybody who reaches its port.
// The statement is bound to one request (upstream, request id, method, and hashes of the
// target, the Idempotency-Key and the body) and holds for 30 seconds; its key is derived from the master key for this
// purpose alone, and its issuer, type and audience fit no token that a caller presents.
// It is no protection against somebody who reads the wire and repeats the very same
// request at once: between processes that is the transport's work (TLS).
//
// Rejected: a shared secret in a header (it says nothing of the request and is good for
// ever), and passing the caller's own credential on (an upstream could use it anywhere).
package assertion
