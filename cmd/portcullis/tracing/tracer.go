package tracing

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/portcullis-authz/portcullis"

// flushTime bounds the export of the last spans.
const flushTime = 2 * time.Second

// Tracer makes spans. A nil Tracer wraps nothing.
type Tracer struct {
	provider *trace.TracerProvider
	tracer   api.Tracer
	// request has the options of a request's span.
	request []api.SpanStartOption
}

// Start returns the tracer of the standard variables, nil if they do not turn tracing on. With trust a client's
// traceparent decides whether its request is sampled. The tracer calls failed with the first error of exports that fail in
// a row. The error names the variable.
func Start(ctx context.Context, lookup func(string) string, trust bool, version string, failed func(error)) (*Tracer, error) {
	chosen, err := protocol(lookup)
	if chosen == "" || err != nil {
		return nil, err
	}
	share, err := sampler(lookup, trust)
	if err != nil {
		return nil, err
	}
	client := otlptracehttp.NewClient()
	if chosen == protocolGRPC {
		client = otlptracegrpc.NewClient()
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", envEndpoint, err)
	}
	service, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "portcullis"), attribute.String("service.version", version),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed)) // the default handler writes to standard error, not to the log
	reporting := &reporter{SpanExporter: exporter, failed: failed}
	provider := trace.NewTracerProvider(trace.WithBatcher(reporting), trace.WithResource(service), trace.WithSampler(share))
	return &Tracer{provider, provider.Tracer(scope), []api.SpanStartOption{api.WithSpanKind(api.SpanKindServer)}}, nil
}

// reporter reports the first failure of an outage: a batch fails every few seconds. One batch is exported at a time.
type reporter struct {
	trace.SpanExporter
	failed  func(error)
	failing bool
}

// ExportSpans implements trace.SpanExporter.
func (r *reporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && !r.failing {
		r.failed(err)
	}
	r.failing = err != nil
	return nil
}

// Close exports the queued spans, for two seconds at most.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// Begin implements gateway.Tracing.
func (t *Tracer) Begin(ctx context.Context, method, parent string) (_ context.Context, traceID string, end func(*gateway.Record)) {
	if parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
	}
	ctx, span := t.tracer.Start(ctx, methodName(method), t.request...)
	traceID = span.SpanContext().TraceID().String()
	if !span.IsRecording() {
		return ctx, traceID, func(*gateway.Record) {}
	}
	return ctx, traceID, func(r *gateway.Record) {
		describe(span, r)
		span.End()
	}
}

// describe sets the attributes of a request from its record. The path is the only text of the client among them.
func describe(span api.Span, r *gateway.Record) {
	span.SetAttributes(attribute.String("http.request.method", methodName(r.Method)), attribute.Int("http.response.status_code", r.Status),
		attribute.String("url.scheme", r.Scheme), attribute.String("url.path", maskedPath(r.Path)))
	if r.Template != "" {
		span.SetName(methodName(r.Method) + " " + r.Template)
		span.SetAttributes(attribute.String("http.route", r.Template))
	}
	if r.PolicyRevision != "" {
		span.SetAttributes(attribute.String("portcullis.decision", resources.DecisionWord(r.Allowed)),
			attribute.String("portcullis.reason_code", r.Code), attribute.String("portcullis.policy.revision", r.PolicyRevision))
	}
	if r.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// longestPath bounds the path in a span, in bytes.
const longestPath = 2048

// maskedPath returns a path without its credentials, in valid UTF-8: one span with other bytes would fail the export of
// its whole batch.
func maskedPath(path string) string {
	path = resources.MaskCredentials(path)
	return strings.ToValidUTF8(path[:min(len(path), longestPath)], "\uFFFD")
}

// methodName returns a method of HTTP, and _OTHER for any other word: clients could invent many.
func methodName(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "_OTHER"
	}
}

// Pass implements gateway.Tracing.
func (t *Tracer) Pass(ctx context.Context, upstream, method string, header http.Header) (_ context.Context, end func(status int, err error)) {
	ctx, span := t.tracer.Start(ctx, "upstream "+upstream, api.WithSpanKind(api.SpanKindClient),
		api.WithAttributes(attribute.String("http.request.method", methodName(method)), attribute.String("portcullis.upstream", upstream)))
	header.Del("Traceparent")
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
	return ctx, func(status int, err error) {
		if status != 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", status))
		}
		finish(span, err)
	}
}

// sampled reports whether the span of the context records.
func sampled(ctx context.Context) bool { return api.SpanFromContext(ctx).IsRecording() }

// child begins a span inside the one of the context. It returns a nil span if that one does not record.
func (t *Tracer) child(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, api.Span) {
	return t.start(ctx, api.SpanKindInternal, name, attributes)
}

// call is child for a call of another system.
func (t *Tracer) call(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, api.Span) {
	return t.start(ctx, api.SpanKindClient, name, attributes)
}

func (t *Tracer) start(ctx context.Context, kind api.SpanKind, name string, attributes []attribute.KeyValue) (context.Context, api.Span) {
	if !sampled(ctx) {
		return ctx, nil
	}
	return t.tracer.Start(ctx, name, api.WithSpanKind(kind), api.WithAttributes(attributes...))
}

// finish ends a span, and marks it as failed. It does not add the text of the error, which may quote the client.
func finish(span api.Span, err error) {
	if span == nil {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
