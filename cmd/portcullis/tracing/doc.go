// Package tracing exports spans of requests to an OpenTelemetry collector.
//
// The standard variables (OTEL_…) turn it on. Without them the Tracer is nil and no part is wrapped, so that it costs
// nothing. A request that is not sampled has one span, without a record.
//
// Attributes have the names of OpenTelemetry's conventions, or begin with portcullis. No attribute has a query, or a
// path with its credentials: clients put credentials there.
//
// # Rejected
//
// Packages on the decision path that begin spans themselves: each would depend on OpenTelemetry, and look for a span on
// every request.
package tracing
