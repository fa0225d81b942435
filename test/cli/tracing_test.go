package cli_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// spans is a collector of OpenTelemetry, in both protocols.
type spans struct {
	collector.UnimplementedTraceServiceServer
	mu   sync.Mutex
	seen []*trace.Span
	text strings.Builder // all that was sent
}

// Export implements the service of gRPC.
func (s *spans) Export(_ context.Context, req *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(req.String())
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			s.seen = append(s.seen, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// ServeHTTP takes the same over HTTP.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	req := &collector.ExportTraceServiceRequest{}
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, req) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = s.Export(r.Context(), req) // never fails
}

// spansOf returns the spans of a trace by their names.
func (s *spans) spansOf(id string) map[string]*trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]*trace.Span{}
	for _, one := range s.seen {
		if hex.EncodeToString(one.GetTraceId()) == id {
			all[one.GetName()] = one
		}
	}
	return all
}

// attribute is a span's attribute as text.
func attribute(span *trace.Span, name string) string {
	for _, a := range span.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// startCollector starts a collector of one of the protocols and returns its address.
func startCollector(t *testing.T, s *spans, protocol string) string {
	t.Helper()
	if protocol == "http/protobuf" {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		return server.URL
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	go func() { _ = server.Serve(l) }() // ends with Stop
	t.Cleanup(server.Stop)
	return "http://" + l.Addr().String()
}

// TestTraceOfARequest goes from the caller through authentication, facts, policy and the store to the upstream, in
// both protocols, and shows no credential.
func TestTraceOfARequest(t *testing.T) { // not in parallel: it sets variables
	for n, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			seen := &spans{}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", startCollector(t, seen, protocol))
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			arrived := make(chan string, 8)
			upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Header.Get("Traceparent") }))
			t.Cleanup(upstream.Close)
			dir := t.TempDir()
			harness.Seed(t, dir, "acct-traced-v1", "proj-traced-v1", harness.Member{ID: "user-traced-v1", Roles: []string{"account_admin"}})
			g := harness.StartIn(t, dir, "--policy-dir", harness.PoliciesWithWidgets(t), "--upstream", "widgets="+upstream.URL,
				"--rate-principal", "1000/s").Each()[0]
			token := g.UserToken(t, "user-traced-v1")
			id, caller := fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e473%d", n), "00f067aa0ba902b7"
			r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-traced-v1/projects/proj-traced-v1/widgets", token, "",
				"Traceparent", "00-"+id+"-"+caller+"-01", "Tracestate", "vendor="+token[:20])
			if r.Status != 200 {
				t.Fatalf("%d %s", r.Status, r.Raw)
			}
			made, changeID := "change"+fmt.Sprint(n), fmt.Sprintf("4bf92f3577b34da6a3ce929d0e0e474%d", n)
			c := harness.Call(t, "POST", g.URL+"/api/v1/accounts/acct-traced-v1/groups", token, `{"name":"`+made+`"}`,
				"Traceparent", "00-"+changeID+"-"+caller+"-00") // which does not keep it from being traced
			if c.Status != 201 {
				t.Fatalf("%d %s", c.Status, c.Raw)
			}
			g.Terminate(t) // exports what waits
			if code := g.Ended(t); code != 0 {
				t.Fatalf("exit %d", code)
			}
			checkTrace(t, seen.spansOf(id), caller, <-arrived)
			change := []string{"insert"}
			if harness.OnMongoDB() { // the driver tells of it
				change = append(change, "commitTransaction")
			}
			checkCommands(t, seen.spansOf(changeID), "store transaction", change...)
			if rates := seen.spansOf(id)["redis EVALSHA"]; harness.OnReplicas() && (rates == nil || attribute(rates, "db.system.name") != "redis") {
				t.Error("no span of the rates that replicas share")
			}
			if signature := token[strings.LastIndex(token, ".")+1:]; strings.Contains(seen.text.String(), signature) || strings.Contains(seen.text.String(), token[:20]) {
				t.Error("a span has a credential")
			}
			if !slices.ContainsFunc(g.RequestLines(""), func(line map[string]any) bool { return line["trace_id"] == id }) {
				t.Error("no line of the log has the trace's id")
			}
		})
	}
}

// checkTrace holds the spans of a proxied request to their order.
func checkTrace(t *testing.T, all map[string]*trace.Span, caller, arrived string) {
	t.Helper()
	const template, path = "/api/v1/accounts/{accountId}/projects/{projectId}/widgets", "/api/v1/accounts/acct-traced-v1/projects/proj-traced-v1/widgets"
	root := all["GET "+template]
	if root == nil || hex.EncodeToString(root.GetParentSpanId()) != caller || attribute(root, "portcullis.decision") != "allow" ||
		attribute(root, "portcullis.reason_code") != "role" || attribute(root, "portcullis.policy.revision") == "" ||
		attribute(root, "http.route") != template || attribute(root, "url.path") != path || attribute(root, "url.scheme") != "http" {
		t.Fatalf("the request's span is %v of %v", root, all)
	}
	for name, parent := range map[string]*trace.Span{
		"authentication": root, "facts": root, "policy access": root, "upstream widgets": root,
	} {
		if one := all[name]; one == nil || string(one.GetParentSpanId()) != string(parent.GetSpanId()) {
			t.Errorf("%s is %v", name, one)
		}
	}
	checkCommands(t, all, "store view", "find")
	if level := attribute(all["facts"], "portcullis.cache.level"); level != "store" {
		t.Errorf("the facts are of %q", level)
	}
	want := "00-" + hex.EncodeToString(root.GetTraceId()) + "-" + hex.EncodeToString(all["upstream widgets"].GetSpanId()) + "-01"
	if arrived != want {
		t.Errorf("the upstream got %q, want %q", arrived, want)
	}
}

// checkCommands holds the commands of a snapshot or a transaction to be inside its span, and to be of the collections and
// the kinds that OpenTelemetry's conventions name.
func checkCommands(t *testing.T, all map[string]*trace.Span, scope string, operations ...string) {
	t.Helper()
	around, system := all[scope], map[bool]string{false: "sqlite", true: "mongodb"}[harness.OnMongoDB()]
	if around == nil || attribute(around, "db.system.name") != system {
		t.Fatalf("%s is %v of %v", scope, around, slices.Collect(maps.Keys(all)))
	}
	for _, operation := range operations {
		if !slices.ContainsFunc(slices.Collect(maps.Values(all)), func(one *trace.Span) bool {
			name, _, _ := strings.Cut(one.GetName(), " ")
			return name == operation && string(one.GetParentSpanId()) == string(around.GetSpanId()) && one.GetKind() == trace.Span_SPAN_KIND_CLIENT &&
				attribute(one, "db.system.name") == system && strings.HasPrefix(attribute(one, "db.operation.name"), operation) && one.GetEndTimeUnixNano() >= one.GetStartTimeUnixNano()
		}) {
			t.Errorf("no %s inside the %s of %v", operation, scope, slices.Sorted(maps.Keys(all)))
		}
	}
}

// TestOtherProtocolsOfTracesAreRefused, and the line names the variable.
func TestOtherProtocolsOfTracesAreRefused(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json", "OTEL_TRACES_EXPORTER=zipkin"} {
		name, _, _ := strings.Cut(variable, "=")
		harness.WantOneLine(t, harness.Command(t, []string{variable}, harness.Ephemeral(t.TempDir())...), name)
	}
}
