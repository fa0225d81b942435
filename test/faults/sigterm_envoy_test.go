package faults_test

import (
	"net"
	"testing"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// sigtermWithACheck: a check of Envoy's that the gateway took before it was told to stop is answered, and
// one without an end holds nothing up; new ones find no listener, exit 0.
func sigtermWithACheck(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]bool{"one that arrives": true, "one without an end": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			harness.Seed(t, dir, "acct-slow-v1", "proj-slow-v1", harness.Member{ID: "user-slow-v1", Roles: []string{"account_admin"}})
			g := harness.StartIn(t, dir, "--ext-authz-listen", "127.0.0.1:0").Each()[0]
			asked := &auth.CheckRequest{Attributes: &auth.AttributeContext{
				Request: &auth.AttributeContext_Request{Http: &auth.AttributeContext_HttpRequest{
					Method: "GET", Path: "/api/v1/accounts/acct-slow-v1/roles", Headers: map[string]string{"authorization": "Bearer " + g.UserToken(t, "user-slow-v1")},
				}},
			}}
			c := must.Get(grpc.NewClient(g.ExtAuthz, grpc.WithTransportCredentials(insecure.NewCredentials())))(t)
			t.Cleanup(func() { _ = c.Close() })
			held := must.Get(c.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, auth.Authorization_Check_FullMethodName))(t)
			// It comes behind the head of the one that is held.
			if got, err := auth.NewAuthorizationClient(c).Check(t.Context(), asked); err != nil || got.GetOkResponse() == nil {
				t.Fatalf("%v, %v", got, err)
			}
			g.Terminate(t)
			terminated := time.Now()
			harness.SoonWithin(t, 10*time.Second, "nobody listens any more", func() bool {
				c, err := net.Dial("tcp", g.ExtAuthz)
				if err == nil {
					_ = c.Close()
				}
				return err != nil
			})
			if arrives {
				answer(t, held, asked)
			}
			if code, took := g.Ended(t), time.Since(terminated); code != 0 || took > 20*time.Second {
				t.Errorf("exit %d after %s\n%s", code, took, g.Stderr)
			}
		})
	}
}

// answer sends the check's message, and wants it allowed.
func answer(t *testing.T, held grpc.ClientStream, asked *auth.CheckRequest) {
	t.Helper()
	got := &auth.CheckResponse{}
	err := held.SendMsg(asked)
	if err == nil {
		err = held.CloseSend()
	}
	if err == nil {
		err = held.RecvMsg(got)
	}
	if err != nil || codes.Code(got.GetStatus().GetCode()) != codes.OK || got.GetOkResponse() == nil {
		t.Errorf("a check under way: %v, %v", got, err)
	}
}
