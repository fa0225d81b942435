// Package tracing tells a collector of OpenTelemetry what a request's time went into.
//
// It is off without the standard variables (OTEL_…). Then there is no Tracer, and nothing of the request's path is
// wrapped: what is not traced costs nothing. A request that is not sampled has no spans but its own, which is
// not recorded.
//
// Attributes are OpenTelemetry's own and the package's (portcullis.…). None is a credential, a path or a query as it was
// sent: a client may put a credential there.
//
// # Rejected
//
// Spans that the packages of the decision begin themselves: each would depend on OpenTelemetry, and look for a span on
// every request.
package tracing
