package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// envoyRows are rows for services behind Envoy.
const envoyRows = `
"envoy.read": {"method": "GET", "host": "app.example", "path": "/api/v1/accounts/{accountId}/projects/{projectId}/{rest+}", "action": "project:instance:read", "effect": "read", "audience": "app", "upstream": "external"},
"envoy.write": {"method": "*", "host": "app.example", "path": "/api/v1/accounts/{accountId}/projects/{projectId}/{rest+}", "action": "project:instance:update", "effect": "write", "upstream": "external"},
"envoy.status": {"method": "GET", "path": "/status", "access": ["public"], "effect": "read", "upstream": "external"},`

// behindEnvoy is a team with services behind Envoy; Bob reads the project's.
func behindEnvoy(t *testing.T) *harness.Team {
	t.Helper()
	return withReader(t, harness.NewTeamAs(t, "envoy", withEnvoy))
}

// withEnvoy are the arguments of its gateway.
func withEnvoy(t testing.TB) []string {
	return []string{"--policy-dir", policiesWith(t, envoyRows), "--ext-authz-listen", "127.0.0.1:0"}
}

// dial gives a connection to the listener for Envoy of one of the gateway's processes.
func dial(t *testing.T, g *harness.Gateway, transport credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	if transport == nil {
		transport = insecure.NewCredentials()
	}
	c := must.Get(grpc.NewClient(g.Each()[0].ExtAuthz, grpc.WithTransportCredentials(transport)))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// check is a call as Envoy sends it, with headers as name, value pairs.
func check(host, method, path string, headers ...string) *auth.CheckRequest {
	h := map[string]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	return &auth.CheckRequest{Attributes: &auth.AttributeContext{Request: &auth.AttributeContext_Request{
		Http: &auth.AttributeContext_HttpRequest{Host: host, Method: method, Path: path, Headers: h},
	}}}
}

// raw moves the headers to header_map, and adds more to it.
func raw(r *auth.CheckRequest, more ...string) *auth.CheckRequest {
	http := r.GetAttributes().GetRequest().GetHttp()
	http.HeaderMap = &core.HeaderMap{}
	for name, value := range http.GetHeaders() {
		more = append(more, name, value)
	}
	http.Headers = nil
	for i := 0; i+1 < len(more); i += 2 {
		http.HeaderMap.Headers = append(http.HeaderMap.Headers, &core.HeaderValue{Key: more[i], RawValue: []byte(more[i+1])})
	}
	return r
}

// judged is what Envoy makes of an answer.
type judged struct {
	code    codes.Code
	status  int
	body    string
	set     map[string]string
	removed []string
	said    map[string]string
}

// ask has Envoy's question answered.
func ask(t *testing.T, c *grpc.ClientConn, r *auth.CheckRequest) judged {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out judged
	for range 20 { // on a busy machine a decision may take too long
		got := must.Get(auth.NewAuthorizationClient(c).Check(ctx, r))(t)
		out = judged{code: codes.Code(got.GetStatus().GetCode()), set: map[string]string{}, said: map[string]string{}}
		out.status, out.body = int(got.GetDeniedResponse().GetStatus().GetCode()), got.GetDeniedResponse().GetBody()
		for _, h := range append(got.GetOkResponse().GetHeaders(), got.GetDeniedResponse().GetHeaders()...) {
			if h.GetAppendAction() != core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD {
				t.Errorf("%s is added to what the client sent", h.GetHeader().GetKey())
			}
			out.set[h.GetHeader().GetKey()] = h.GetHeader().GetValue()
		}
		out.removed = got.GetOkResponse().GetHeadersToRemove()
		for name, value := range got.GetDynamicMetadata().GetFields() {
			out.said[name] = value.GetStringValue()
		}
		if out.status != 503 || !harness.SaysUndecided([]byte(out.body)) {
			break
		}
	}
	return out
}

// serviceRequest is the call as the service gets it from Envoy.
func serviceRequest(t *testing.T, method, target string, got judged) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	for name, value := range got.set {
		r.Header.Set(name, value)
	}
	return r
}
