package extauthz_test

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/portcullis-authz/portcullis/gateway/doors/extauthz"
	"github.com/portcullis-authz/portcullis/test/must"
)

// serve starts a server and returns a client of it.
func serve(t *testing.T, trust extauthz.Trust) auth.AuthorizationClient {
	t.Helper()
	s := extauthz.NewServer(&extauthz.Door{Edge: open{}}, extauthz.Limits{Header: 32 << 10, Read: time.Minute, Write: time.Minute, Idle: time.Minute, Handle: time.Minute}, trust, slog.Default())
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Shutdown(t.Context()) })
	c := must.Get(grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
	t.Cleanup(func() { _ = c.Close() })
	return auth.NewAuthorizationClient(c)
}

// TestContextExtensionsNeedATrustedPeer guarantees that anybody else's context_extensions are denied, with any content.
// This holds for public calls, and after the same connection was trusted.
func TestContextExtensionsNeedATrustedPeer(t *testing.T) {
	t.Parallel()
	var trusted atomic.Bool
	c := serve(t, func(net.Conn) (func() bool, error) { return trusted.Load, nil })
	ask := func(method, path string, extensions map[string]string) *auth.CheckResponse {
		t.Helper()
		return must.Get(c.Check(t.Context(), &auth.CheckRequest{Attributes: &auth.AttributeContext{
			ContextExtensions: extensions,
			Request:           &auth.AttributeContext_Request{Http: &auth.AttributeContext_HttpRequest{Method: method, Path: path, Host: "h.example"}},
		}}))(t)
	}
	for _, now := range []bool{true, false} {
		trusted.Store(now)
		for name, extensions := range map[string]map[string]string{
			"an action": {"action": "project:widget:read"}, "both": {"action": "project:widget:read", "audience": "widgets"},
		} {
			got := ask("GET", "/elsewhere", extensions)
			if ok := got.GetOkResponse() != nil; ok != now || !ok && (got.GetDeniedResponse().GetStatus().GetCode() != 403 || codes.Code(got.GetStatus().GetCode()) != codes.PermissionDenied) {
				t.Errorf("%s, trusted %v: %v", name, now, got)
			}
		}
	}
	for name, extensions := range map[string]map[string]string{"an audience": {"audience": "widgets"}, "another": {"x": ""}} {
		for _, call := range []string{"POST /widgets", "GET /open"} {
			method, path, _ := strings.Cut(call, " ")
			if got := ask(method, path, extensions); got.GetOkResponse() != nil {
				t.Errorf("%s, %s: %v", name, call, got)
			}
			if got := ask(method, path, nil); got.GetOkResponse() == nil {
				t.Errorf("%s without: %v", call, got)
			}
		}
	}
	failed := serve(t, func(net.Conn) (func() bool, error) { return nil, errors.New("no certificate") })
	if _, err := failed.Check(t.Context(), &auth.CheckRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("a handshake that failed: %v", err)
	}
}
