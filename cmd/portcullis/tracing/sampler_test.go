package tracing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	api "go.opentelemetry.io/otel/trace"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
)

// traced begins 200 requests with a traceparent of these flags, and returns how many are recorded. Calls inside a
// request must be recorded with it. The trace ids are the lowest ones, so that a sampler by trace id would sample all.
func traced(t *testing.T, tracer *tracing.Tracer, flags string) (recorded int) {
	t.Helper()
	const requests = 200
	for i := range requests {
		id, parent := fmt.Sprintf("%032x", i+1), ""
		if flags != "" {
			parent = "00-" + id + "-00f067aa0ba902b7-" + flags
		}
		ctx, traceID, _ := tracer.Begin(context.Background(), "GET", parent)
		if flags != "" && traceID != id {
			t.Fatalf("the trace of %s is %s", id, traceID)
		}
		span := api.SpanFromContext(ctx)
		inside := map[string][]string{}
		ctx, _ = tracer.Pass(ctx, "widgets", "GET", inside)
		if span.IsRecording() != api.SpanFromContext(ctx).IsRecording() || strings.HasSuffix(inside["Traceparent"][0], "-01") != span.IsRecording() {
			t.Fatalf("the call inside %s is recorded: %v, %q", id, api.SpanFromContext(ctx).IsRecording(), inside)
		}
		if span.IsRecording() {
			recorded++
		}
	}
	return recorded
}

// TestAClientDoesNotDecideWhatIsSampled guarantees that neither the flag nor the trace id of a client's traceparent
// decides whether its request is sampled, unless the operator trusts clients.
func TestAClientDoesNotDecideWhatIsSampled(t *testing.T) {
	const all, none, some = 200, 0, -1
	for _, c := range []struct {
		sampler, share string
		trust          bool
		alone          int // without a traceparent
		set, unset     int // with its flag set, and not set
	}{
		{"", "", false, all, all, all},
		{"", "", true, all, all, none},
		{"parentbased_always_off", "", false, none, none, none},
		{"parentbased_always_off", "", true, none, all, none},
		{"parentbased_traceidratio", "0.2", false, some, some, some},
		{"parentbased_traceidratio", "0.2", true, some, all, none},
		{"traceidratio", "0.2", false, some, some, some},
		{"traceidratio", "0", false, none, none, none},
		{"always_on", "", false, all, all, all},
		{"always_off", "", false, none, none, none},
		{"always_off", "", true, none, none, none},
		{" Traceidratio ", "", false, all, all, all},
	} {
		tracer, err := tracing.Start(t.Context(), variables("OTEL_TRACES_SAMPLER", c.sampler, "OTEL_TRACES_SAMPLER_ARG", c.share), c.trust, "test", func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		for flags, want := range map[string]int{"": c.alone, "01": c.set, "00": c.unset} {
			got := traced(t, tracer, flags)
			if want >= 0 && got != want || want == some && (got < 10 || got > 90) { // 200 at 0.2: fewer or more are practically impossible
				t.Errorf("%q %s, trust %v, flags %q: %d are sampled, want %d", c.sampler, c.share, c.trust, flags, got, want)
			}
		}
		_ = tracer.Close() // no collector listens
	}
}

// TestUnknownSamplersAreRefused guarantees that Start rejects an unknown sampler and names the variable.
func TestUnknownSamplersAreRefused(t *testing.T) {
	for _, c := range [][3]string{
		{"sometimes", "", "OTEL_TRACES_SAMPLER"},
		{"jaeger_remote", "", "OTEL_TRACES_SAMPLER"},
		{"parentbased_", "", "OTEL_TRACES_SAMPLER"},
		{"parentbased_parentbased_always_on", "", "OTEL_TRACES_SAMPLER"},
		{"traceidratio", "2", "OTEL_TRACES_SAMPLER_ARG"},
		{"traceidratio", "NaN", "OTEL_TRACES_SAMPLER_ARG"},
		{"parentbased_traceidratio", "-0.1", "OTEL_TRACES_SAMPLER_ARG"},
		{"traceidratio", "some", "OTEL_TRACES_SAMPLER_ARG"},
	} {
		tracer, err := tracing.Start(t.Context(), variables("OTEL_TRACES_SAMPLER", c[0], "OTEL_TRACES_SAMPLER_ARG", c[1]), false, "test", func(error) {})
		if tracer != nil || err == nil || !strings.HasPrefix(err.Error(), c[2]+": must be ") {
			t.Errorf("%q %q: %v", c[0], c[1], err)
		}
	}
}
