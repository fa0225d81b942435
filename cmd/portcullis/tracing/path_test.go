package tracing_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/tracing"
	"github.com/portcullis-authz/portcullis/gateway"
)

// exported traces the requests, and returns the attributes of their spans by the names of the spans.
func exported(t *testing.T, requests ...gateway.Record) map[string]map[string]string {
	t.Helper()
	var mu sync.Mutex
	spans := map[string]map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		export := &collector.ExportTraceServiceRequest{}
		if err != nil || proto.Unmarshal(raw, export) != nil {
			t.Errorf("an export can't be read: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, span := range export.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
			attributes := map[string]string{}
			for _, a := range span.GetAttributes() {
				attributes[a.GetKey()] = a.GetValue().GetStringValue()
			}
			spans[span.GetName()] = attributes
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	tracer, err := tracing.Start(t.Context(), variables("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL), false, "test", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		_, _, end := tracer.Begin(t.Context(), requests[i].Method, "")
		end(&requests[i])
	}
	if err := tracer.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return spans
}

// TestPathOfASpan guarantees that a span has the path without its credentials. A path of any bytes and length does not
// stop the export of other spans.
func TestPathOfASpan(t *testing.T) {
	secret := "pcl_sk_live_" + strings.Repeat("a1", 30)
	spans := exported(t,
		gateway.Record{Method: "GET", Path: "/plain/x", Scheme: "https", Route: "plain.get", Template: "/plain/{id}"},
		gateway.Record{Method: "PUT", Path: "/keys/" + secret + "\xff\x00/é"},
		gateway.Record{Method: "POST", Path: "/" + strings.Repeat("long", 8000)},
	)
	if got := spans["GET /plain/{id}"]; got["url.path"] != "/plain/x" || got["url.scheme"] != "https" || got["http.route"] != "/plain/{id}" {
		t.Errorf("%v of %v", got, spans)
	}
	got, sent := spans["PUT"]["url.path"]
	if !sent || strings.Contains(got, secret[:20]) || !strings.HasPrefix(got, "/keys/") || !strings.HasSuffix(got, "/é") {
		t.Errorf("%q", got)
	}
	if got := spans["POST"]["url.path"]; len(got) < 1000 || len(got) > 4000 {
		t.Errorf("%d bytes", len(got))
	}
}
