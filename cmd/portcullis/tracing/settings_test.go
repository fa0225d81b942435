package tracing_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
)

// TestVariablesThatCannotBeReadAreNotQuoted guarantees that errors do not quote variables with credentials of the
// collector.
func TestVariablesThatCannotBeReadAreNotQuoted(t *testing.T) {
	const secret = "s3cret"
	for _, c := range [][2]string{
		{"OTEL_EXPORTER_OTLP_HEADERS", "api-key " + secret},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,Bearer " + secret + "="},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=" + secret + "%2"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:" + secret + "@127.0.0.1:%zz"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://user:" + secret + "@[::1"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", secret},
	} {
		variables := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", c[0]: c[1]}
		tracer, err := tracing.Start(t.Context(), func(name string) string { return variables[name] }, false, "test", func(error) {})
		if tracer != nil || err == nil || !strings.HasPrefix(err.Error(), c[0]+": must be ") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s=%s: %v", c[0], c[1], err)
		}
	}
	variables := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, x-team = a"}
	tracer, err := tracing.Start(t.Context(), func(name string) string { return variables[name] }, false, "test", func(error) {})
	if tracer == nil || err != nil {
		t.Fatal(err)
	}
	if err := tracer.Close(); err != nil {
		t.Error(err)
	}
}
