package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/portcullis-authz/portcullis/gateway/client"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestEnvoyIsAnsweredAsForwardAuth: the same status, headers and reason for each call, in both forms
// in which Envoy tells headers.
func TestEnvoyIsAnsweredAsForwardAuth(t *testing.T) {
	t.Parallel()
	a := behindEnvoy(t)
	c := dial(t, a.Gateway, nil)
	place := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project
	bob, carol := a.UserToken(t, a.Bob), a.UserToken(t, a.Carol)
	wantCode := map[int]codes.Code{
		200: codes.OK, 400: codes.PermissionDenied, 403: codes.PermissionDenied, 404: codes.PermissionDenied, 401: codes.Unauthenticated,
	}
	for name, q := range map[string]struct {
		host, method, uri, token string
		status                   int
		more                     []string
	}{
		"a reader reads":    {"app.example", "GET", place + "/i?a=..//", bob, 200, nil},
		"host and port":     {"APP.example:443", "HEAD", place + "/i", bob, 200, nil},
		"true claims":       {"app.example", "GET", place + "/i", bob, 200, []string{"x-user-id", a.Bob, "x-account-id", a.Account}},
		"strict":            {"app.example", "GET", place + "/i", bob, 200, []string{"x-consistency", "strict"}},
		"a reader writes":   {"app.example", "PUT", place + "/i", bob, 403, nil},
		"a stranger reads":  {"app.example", "GET", place + "/i", carol, 403, nil},
		"another account":   {"app.example", "GET", "/api/v1/accounts/acct-other-v1/projects/" + a.Project + "/i", bob, 403, nil},
		"no row":            {"other.example", "GET", "/widgets", bob, 404, nil},
		"nobody":            {"app.example", "GET", place + "/i", "", 401, nil},
		"a broken token":    {"app.example", "GET", place + "/i", harness.OtherEnding(bob), 401, nil},
		"for anybody":       {"", "GET", "/status", "", 200, nil},
		"dots":              {"app.example", "GET", place + "/%2e%2e/i", bob, 400, nil},
		"a fragment":        {"app.example", "GET", place + "/i#x", bob, 400, nil},
		"half of a query":   {"app.example", "GET", place + "/i?a#b", bob, 400, nil},
		"small method":      {"app.example", "get", place + "/i", bob, 400, nil},
		"two hosts":         {"app.example,other.example", "GET", place + "/i", bob, 400, nil},
		"a false claim":     {"app.example", "GET", place + "/i", bob, 400, []string{"x-user-id", a.Admin}},
		"another spelling":  {"app.example", "GET", place + "/i", bob, 400, []string{"x_user_id", a.Bob}},
		"other consistency": {"app.example", "GET", place + "/i", bob, 400, []string{"x-consistency", "weak"}},
		"empty consistency": {"app.example", "GET", place + "/i", bob, 400, []string{"x-consistency", ""}},
		"other, for nobody": {"app.example", "GET", place + "/i", "", 401, []string{"x-consistency", "weak"}},
		"other, no row":     {"other.example", "GET", "/widgets", bob, 404, []string{"x-consistency", "weak"}},
		"false, no row":     {"other.example", "GET", "/widgets", bob, 404, []string{"x-user-id", a.Admin}},
		"dots, no row":      {"other.example", "GET", "/a/%2e%2e", bob, 404, nil},
		"nothing, no row":   {"other.example", "GET", "/a/%2e%2e", "", 401, nil},
		"a foreign scheme":  {"app.example", "GET", place + "/i", "", 401, []string{"authorization", "Basic eA=="}},
		"no token at all":   {"app.example", "GET", place + "/i", "", 401, []string{"authorization", "Bearer "}},
		"an empty header":   {"app.example", "GET", place + "/i", "", 401, []string{"authorization", ""}},
		"open, foreign":     {"", "GET", "/status", "", 200, []string{"authorization", "Basic eA==", "x-consistency", "strict"}},
		"open, other":       {"", "GET", "/status", "", 400, []string{"x-consistency", "weak"}},
		"open, both":        {"", "GET", "/status", "", 400, []string{"authorization", "Basic eA==", "x-consistency", "weak"}},
		"open, a user":      {"", "GET", "/status", "", 200, []string{"x-user-id", a.Bob, "x-account-id", a.Account}},
		"open, an action":   {"", "GET", "/status", "", 400, []string{"x-action", "project:instance:read"}},
		"open, a fragment":  {"", "GET", "/status?a#b", "", 400, nil},
		"open, two keys":    {"", "GET", "/status", "", 200, []string{"authorization", "Bearer x", "x-api-key", "y"}},
		"open, underscores": {"", "GET", "/status", "", 400, []string{"x_api_key", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			headers := q.more
			if q.token != "" {
				headers = append(headers, "authorization", "Bearer "+q.token)
			}
			host := q.host
			if host == "" {
				host = "gateway"
			}
			want := harness.Call(t, "GET", a.URL+"/forward-auth", q.token, "", append(q.more, "X-Forwarded-Host", host, "X-Original-Method", q.method, "X-Original-URI", q.uri)...)
			for form, request := range map[string]*auth.CheckRequest{
				"headers": check(q.host, q.method, q.uri, headers...), "header_map": raw(check(q.host, q.method, q.uri, headers...)),
			} {
				got := ask(t, c, request)
				if want.Status != q.status || got.code != wantCode[q.status] || q.status != 200 && got.status != q.status {
					t.Errorf("%s: %s %d %s, forward-auth says %d %s, want %d", form, got.code, got.status, got.body, want.Status, want.Raw, q.status)
					continue
				}
				if q.status != 200 {
					var body struct{ Error any }
					if err := json.Unmarshal([]byte(got.body), &body); err != nil || strings.ReplaceAll(string(want.Raw), "X-Forwarded-Host", "Host") != got.body {
						t.Errorf("%s: %s, forward-auth says %s", form, got.body, want.Raw)
					}
					if (got.set["www-authenticate"] == "Bearer") != (q.status == 401) || got.set["x-request-id"] == "" {
						t.Errorf("%s: headers %v", form, got.set)
					}
					continue
				}
				wantPassed(t, got, want)
			}
		})
	}
}

// wantPassed holds the headers of an OK to those of forward-auth: what has a value is set, and all
// others are taken away, the credential too.
func wantPassed(t *testing.T, got judged, want harness.Reply) {
	t.Helper()
	for _, name := range []string{"X-User-ID", "X-Account-ID", "X-Action", "X-Principal-Kind"} {
		value, small := want.Header.Get(name), strings.ToLower(name)
		if got.set[small] != value || (value == "") != slices.Contains(got.removed, small) {
			t.Errorf("%s is %q, removed %v, want %q", name, got.set[small], got.removed, value)
		}
	}
	_, asserted := got.set["x-portcullis-assertion"]
	if asserted != (want.Header.Get("X-Portcullis-Assertion") != "") || asserted == slices.Contains(got.removed, "x-portcullis-assertion") || got.set["x-request-id"] == "" {
		t.Errorf("set %v, removed %v", got.set, got.removed)
	}
	for _, name := range []string{"authorization", "x-api-key"} {
		if !slices.Contains(got.removed, name) {
			t.Errorf("the service gets %s", name)
		}
	}
	if got.said["policy_revision"] == "" || got.said["account_revision"] == "" || got.said["reason"] == "" || (got.said["decision_id"] == "") != (got.said["reason"] == "the route is public") {
		t.Errorf("metadata %v", got.said)
	}
}

// TestEnvoysConfigurationNamesActionAndAudience: then no row is needed, and what it names badly is
// denied.
func TestEnvoysConfigurationNamesActionAndAudience(t *testing.T) {
	t.Parallel()
	proxies, args := harness.WithTLS(t)
	a := withReader(t, harness.StartTeam(t, append(withEnvoy(t), args...)...))
	c := dial(t, a.Gateway, credentials.NewTLS(harness.AsProxy(t, proxies)))
	path := "/accounts/" + a.Account + "/projects/" + a.Project + "/things?x=1"
	named := func(token, path string, extensions ...string) judged {
		r := check("elsewhere.example", "POST", path, "x-request-id", "req-envoy")
		if token != "" {
			r.Attributes.Request.Http.Headers["authorization"] = "Bearer " + token
		}
		r.Attributes.ContextExtensions = map[string]string{}
		for i := 0; i+1 < len(extensions); i += 2 {
			r.Attributes.ContextExtensions[extensions[i]] = extensions[i+1]
		}
		return ask(t, c, r)
	}
	bob := a.UserToken(t, a.Bob)
	got := named(bob, path, "action", "project:instance:read", "audience", "things", "other", "is ignored")
	if got.code != codes.OK || got.set["x-action"] != "project:instance:read" || got.set["x-user-id"] != a.Bob || got.set["x-account-id"] != a.Account {
		t.Fatalf("%+v", got)
	}
	v, err := client.NewVerifier(client.VerifierOptions{KeysURL: a.HealthURL + "/assertions/jwks.json", Audience: "things", Action: means("project:instance:read")})
	if err != nil {
		t.Fatal(err)
	}
	arrived := serviceRequest(t, "POST", path, got)
	if caller, err := v.Verify(t.Context(), arrived, []byte("any body")); err != nil || caller.ID != a.Bob || caller.Action != "project:instance:read" {
		t.Errorf("the assertion: %+v, %v", caller, err)
	}
	for name, q := range map[string]struct {
		token, path string
		extensions  []string
		status      int
	}{
		"not granted":       {bob, path, []string{"action", "project:instance:create"}, 403},
		"another project":   {bob, "/accounts/" + a.Account + "/projects/proj-other-v1/x", []string{"action", "project:instance:read"}, 403},
		"an empty action":   {bob, path, []string{"action", ""}, 400},
		"a bad action":      {bob, path, []string{"action", "read"}, 400},
		"any action":        {bob, path, []string{"action", "*"}, 400},
		"an empty audience": {bob, path, []string{"action", "project:instance:read", "audience", ""}, 400},
		"a bad audience":    {bob, path, []string{"action", "project:instance:read", "audience", "a b"}, 400},
		"a bad path":        {bob, "/accounts/" + a.Account + "//x", []string{"action", "project:instance:read"}, 400},
		"no row, no action": {bob, path, nil, 404},
		"nobody":            {"", path, []string{"action", "project:instance:read"}, 401},
	} {
		if got := named(q.token, q.path, q.extensions...); got.status != q.status || got.code == codes.OK {
			t.Errorf("%s: %s %d %s, want %d", name, got.code, got.status, got.body, q.status)
		}
	}
	c = dial(t, a.Gateway, credentials.NewTLS(harness.AsProxy(t, nil))) // anybody who reaches the listener
	for name, extensions := range map[string][]string{
		"an action": {"action", "project:instance:read"}, "an audience": {"audience", "things"}, "nothing of ours": {"x", "y"},
	} {
		if got := named(bob, path, extensions...); got.code != codes.PermissionDenied || got.status != 403 || !strings.Contains(got.body, "--ext-authz-client-ca-file") {
			t.Errorf("%s without a certificate: %+v", name, got)
		}
	}
	status := check("app.example", "GET", "/status")
	if got := ask(t, c, status); got.code != codes.OK {
		t.Errorf("for anybody: %+v", got)
	}
	status.Attributes.ContextExtensions = map[string]string{"audience": "things"}
	if got := ask(t, c, status); got.code == codes.OK {
		t.Errorf("for anybody, with an audience: %+v", got)
	}
}

// TestWhatEnvoyTellsTwiceIsDenied: headers and header_map of different credentials, and messages
// without a call.
func TestWhatEnvoyTellsTwiceIsDenied(t *testing.T) {
	t.Parallel()
	a := behindEnvoy(t)
	c := dial(t, a.Gateway, nil)
	uri := "/api/v1/accounts/" + a.Account + "/projects/" + a.Project + "/i"
	bob := "Bearer " + a.UserToken(t, a.Bob)
	both := func(headers []string, more ...string) *auth.CheckRequest {
		r := raw(check("app.example", "GET", uri), more...)
		plain := check("app.example", "GET", uri, headers...)
		r.Attributes.Request.Http.Headers = plain.GetAttributes().GetRequest().GetHttp().GetHeaders()
		return r
	}
	if got := ask(t, c, both([]string{"authorization", bob}, "authorization", bob)); got.code != codes.OK {
		t.Errorf("alike: %+v", got)
	}
	for name, r := range map[string]*auth.CheckRequest{
		"two credentials":        both([]string{"authorization", bob}, "authorization", "Bearer "+a.AdminToken),
		"two in header_map":      both(nil, "authorization", bob, "authorization", "Bearer "+a.AdminToken),
		"twice in header_map":    both(nil, "authorization", bob, "Authorization", bob),
		"key and token":          both([]string{"authorization", bob}, "x-api-key", "Bearer x"),
		"a claim in one of them": both([]string{"authorization", bob, "x-user-id", a.Bob}, "x-user-id", a.Admin),
		"joined":                 check("app.example", "GET", uri, "authorization", bob+",Bearer "+a.AdminToken),
		"nothing":                {},
		"no call":                {Attributes: &auth.AttributeContext{Request: &auth.AttributeContext_Request{}}},
		"no path":                check("app.example", "GET", "", "authorization", bob),
		"no method":              check("app.example", "", uri, "authorization", bob),
		"a relative path":        check("app.example", "GET", uri[1:], "authorization", bob),
		"an absolute URI":        check("app.example", "GET", "http://app.example"+uri, "authorization", bob),
		"a header of bytes":      both(nil, "authorization", "Bearer \xff\x00"),
	} {
		if got := ask(t, c, r); got.code == codes.OK || got.status != 400 && got.status != 401 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	underscored := check("app.example", "GET", uri, "authorization", bob, "x_principal_kind", "service", "X_Portcullis_Assertion", "x")
	if got := ask(t, c, underscored); got.code != codes.OK || !slices.Contains(got.removed, "x_principal_kind") || !slices.Contains(got.removed, "X_Portcullis_Assertion") {
		t.Errorf("what some servers read with hyphens arrives: %+v", got)
	}
}

// TestListenerForEnvoyHasTheBoundsOfTheEdge: rates, connections, sizes, and it speaks of its health
// and services; each check is one line of the log.
func TestListenerForEnvoyHasTheBoundsOfTheEdge(t *testing.T) {
	t.Parallel()
	a := withReader(t, harness.StartTeam(t, append(withEnvoy(t), "--rate-principal", "3/h", "--max-connections-per-address", "8", "--read-timeout", "1s")...))
	c := dial(t, a.Gateway, nil)
	bob := a.UserToken(t, a.Bob)
	asked := check("app.example", "GET", "/api/v1/accounts/"+a.Account+"/projects/"+a.Project+"/i?x=1", "authorization", "Bearer "+bob, "x-request-id", "req-of-envoy")
	for i := range 4 {
		got := ask(t, c, asked)
		if limited := got.code == codes.ResourceExhausted && got.status == 429 && got.set["retry-after"] != ""; limited != (i == 3) || !limited && got.code != codes.OK {
			t.Errorf("check %d: %+v", i, got)
		}
	}
	harness.Soon(t, "the log has all four", func() bool { return len(a.RequestLines("req-of-envoy")) == 4 })
	if line := a.RequestLines("req-of-envoy")[0]; line["route"] != "ext_authz.check" || line["principal"] != a.Bob || line["decision"] != "allow" || line["action"] != "project:instance:read" ||
		line["original_host"] != "app.example" || line["original_method"] != "GET" || line["original_path"] != "/api/v1/accounts/"+a.Account+"/projects/"+a.Project+"/i" {
		t.Errorf("%v", line)
	}
	large := check("app.example", "GET", "/x", "x-large", strings.Repeat("a", 1<<20))
	if _, err := auth.NewAuthorizationClient(c).Check(t.Context(), large); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a megabyte of headers: %v", err)
	}
	const service = "envoy.service.auth.v3.Authorization"
	for _, name := range []string{"", service} {
		if h, err := grpc_health_v1.NewHealthClient(c).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name}); err != nil || h.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", name, h, err)
		}
	}
	if names := services(t, c); !slices.Contains(names, service) {
		t.Errorf("services %q", names)
	}
	silent := must.Get(net.Dial("tcp", a.Each()[0].ExtAuthz))(t)
	defer func() { _ = silent.Close() }()
	_ = silent.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.Copy(io.Discard, silent); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a connection that says nothing stays open")
	}
}

// TestChecksThatNeverArriveEnd guarantees an end and a bound for them. An endless stream does not hold the process.
func TestChecksThatNeverArriveEnd(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--ext-authz-listen", "127.0.0.1:0", "--max-requests", "2", "--read-timeout", "1s", "--handle-timeout", "1s", "--drain-timeout", "10m")
	c := dial(t, g, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := func() grpc.ClientStream {
		s, err := c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, auth.Authorization_Check_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var hanging []grpc.ClientStream
	for range 4 {
		hanging = append(hanging, begin())
	}
	if err := begin().RecvMsg(&auth.CheckResponse{}); status.Code(err) != codes.Unavailable {
		t.Errorf("over the bound: %v", err)
	}
	for _, s := range hanging {
		if err := s.RecvMsg(&auth.CheckResponse{}); status.Code(err) == codes.OK {
			t.Error("a check that never came is answered")
		}
		if ctx.Err() != nil {
			t.Fatal("a check that never came has no end")
		}
	}
	harness.Soon(t, "there is room again", func() bool {
		_, err := grpc_health_v1.NewHealthClient(c).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		return err == nil
	})
	watch, err := grpc_health_v1.NewHealthClient(c).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	g.Terminate(t)
	if code := g.Ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// services are those in the server's own list.
func services(t *testing.T, c *grpc.ClientConn) (names []string) {
	t.Helper()
	stream := must.Get(grpc_reflection_v1.NewServerReflectionClient(c).ServerReflectionInfo(t.Context()))(t)
	if err := stream.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	got := must.Get(stream.Recv())(t)
	_ = stream.CloseSend()
	for _, s := range got.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names
}

// TestEnvoyIsAnsweredOverTLS, with the edge's certificate, and drained with it.
func TestEnvoyIsAnsweredOverTLS(t *testing.T) {
	t.Parallel()
	authority := must.Get(servers.NewAuthority())(t)
	cert, key := authority.Certificate(t)
	g := harness.Launch(t, t.TempDir(), "--ext-authz-listen", "127.0.0.1:0", "--tls-cert-file", cert, "--tls-key-file", key)
	trust := must.Get(credentials.NewClientTLSFromFile(authority.File, "127.0.0.1"))(t)
	c := dial(t, g, trust)
	if got := ask(t, c, check("app.example", "GET", "/x")); got.code != codes.Unauthenticated {
		t.Errorf("%+v", got)
	}
	if _, err := auth.NewAuthorizationClient(dial(t, g, nil)).Check(t.Context(), check("a", "GET", "/x")); status.Code(err) != codes.Unavailable {
		t.Errorf("without TLS: %v", err)
	}
	g.Terminate(t)
	if code := g.Ended(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}
