package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// peerEcho answers every check with the same message.
	peerEcho = "grpc"
	// extAuthzLimit bounds the CPU time of a check, as a ratio to the bare echo.
	extAuthzLimit = 2.0
	// underWay is the number of concurrent checks on each connection.
	underWay = 4
)

var saysExtAuthz = regexp.MustCompile(`"ext_authz_listen":"([^"]+)"`)

// echo is the bare service: it answers every check with the same message.
type echo struct {
	auth.UnimplementedAuthorizationServer
	answer *auth.CheckResponse
}

// Check implements the service.
func (e echo) Check(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error) {
	return e.answer, nil
}

// serveEcho serves an answer of as many bytes as the gateway's.
func serveEcho() error {
	ok := &auth.OkHttpResponse{HeadersToRemove: []string{"x-portcullis-assertion", "authorization", "x-api-key"}}
	for name, value := range map[string]string{
		"x-user-id": userID(0), "x-account-id": "acct-load-v1", "x-action": "project:kind0000:verb00", "x-principal-kind": "user",
		"x-request-id": "01J0000000000000000000000",
	} {
		ok.Headers = append(ok.Headers, &core.HeaderValueOption{Header: &core.HeaderValue{Key: name, Value: value}})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	auth.RegisterAuthorizationServer(server, echo{answer: &auth.CheckResponse{
		Status: &status.Status{Code: int32(codes.OK)}, HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: ok},
	}})
	fmt.Fprintf(os.Stderr, "{\"msg\":\"ready\",\"listen\":%q}\n", listener.Addr())
	return server.Serve(listener)
}

// checks has a server's connections, and the cost of a check in each window, in µs of its CPU.
type checks struct {
	p     *process
	conns []*grpc.ClientConn
	costs []float64
}

func newChecks(b *testing.B, p *process, address string) *checks {
	b.Helper()
	c := &checks{p: p}
	for range *connections {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		c.conns = append(c.conns, conn)
	}
	return c
}

var errDenied = errors.New("the server denied a check with the verdict allow")

// check sends one check.
func (*checks) check(conn *grpc.ClientConn, asked *auth.CheckRequest) error {
	got, err := auth.NewAuthorizationClient(conn).Check(context.Background(), asked)
	if err == nil && got.GetOkResponse() == nil {
		err = fmt.Errorf("%w: %s", errDenied, got.GetDeniedResponse().GetBody())
	}
	return err
}

// window sends checks for d, and returns the number of answers. Every answer must allow.
func (c *checks) window(asked []*auth.CheckRequest, d time.Duration) (int64, error) {
	var n atomic.Int64
	var failed atomic.Pointer[error]
	var wait sync.WaitGroup
	end := time.Now().Add(d)
	for i, conn := range c.conns {
		for j := range underWay {
			wait.Go(func() {
				for k := i*underWay + j; time.Now().Before(end); k++ {
					if err := c.check(conn, asked[k%len(asked)]); err != nil {
						failed.Store(&err)
						return
					}
					n.Add(1)
				}
			})
		}
	}
	wait.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return n.Load(), nil
}

// measure measures one window.
func (c *checks) measure(asked []*auth.CheckRequest) error {
	before, err := c.p.cpu()
	if err != nil {
		return err
	}
	n, err := c.window(asked, *window)
	if err != nil {
		return err
	}
	after, err := c.p.cpu()
	if err != nil {
		return err
	}
	c.costs = append(c.costs, float64((after-before).Nanoseconds())/1e3/float64(n))
	return nil
}

// envoyAsks returns allowed questions of users with tokens of their own, as Envoy sends them.
func (w *world) envoyAsks() (all []*auth.CheckRequest) {
	for i := range repeated {
		q := w.allowed(i, i)
		all = append(all, &auth.CheckRequest{Attributes: &auth.AttributeContext{
			Request: &auth.AttributeContext_Request{Http: &auth.AttributeContext_HttpRequest{
				Method: "GET", Host: "load", Path: "/accounts/" + w.account + "/projects/" + q.project + "/" + collectionOf(q.action) + "/" + q.resource,
				Headers: map[string]string{
					":method": "GET", ":authority": "load", "user-agent": "load", "accept": "*/*", "authorization": "Bearer " + w.tokens.users[q.user],
				},
			}},
		}})
	}
	return all
}

// collectionOf returns the collection of an action's row.
func collectionOf(action string) string { return strings.ReplaceAll(action, ":", "-") }

// addRows adds a row of the catalogue to a policy tree for each permission in questions: without a certificate, Envoy's
// configuration can't name an action.
func addRows(b *testing.B, tree string, roles []role) {
	b.Helper()
	path := filepath.Join(tree, "routes", "data.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	rows := map[string]any{}
	if err := json.Unmarshal(raw, &rows); err != nil {
		b.Fatal(err)
	}
	for _, r := range roles {
		for _, action := range r.asked {
			rows["load."+strings.ReplaceAll(action, ":", "_")] = object{
				"method": "GET", "path": "/accounts/{accountId}/projects/{projectId}/" + collectionOf(action) + "/{id}",
				"action": action, "effect": resources.EffectRead, "upstream": resources.UpstreamExternal,
			}
		}
	}
	if raw, err = json.Marshal(rows); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, raw, 0o600)); err != nil { // the copy may be read-only
		b.Fatal(err)
	}
}

// BenchmarkLoadExtAuthz compares warm checks with a bare gRPC service that answers the same bytes.
func BenchmarkLoadExtAuthz(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("the server and the client need a core each")
	}
	program := build(b)
	roles := loadRoles(fewRoles)
	tree := writeTree(b, roles)
	addRows(b, tree, roles)
	w := newWorld(b, repeated, assigned, tree, roles)
	asked := w.envoyAsks()
	pinClient(b)
	p, err := startGateway(b, program, w, "--ext-authz-listen", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	bare, err := startPeer(b, peer{Kind: peerEcho})
	if err != nil {
		b.Fatal(err)
	}
	match := saysExtAuthz.FindStringSubmatch(p.text(b))
	if match == nil {
		b.Fatal("the gateway does not listen for Envoy")
	}
	servers := []*checks{newChecks(b, p, match[1]), newChecks(b, bare, bare.address)}
	for _, c := range servers {
		for _, one := range asked { // fill the caches
			if err := c.check(c.conns[0], one); err != nil {
				b.Fatal(err)
			}
		}
	}
	for turn := range *pairs {
		for i := range servers {
			if err := servers[(turn+i)%len(servers)].measure(asked); err != nil {
				b.Fatal(err)
			}
		}
	}
	m, t := ratioOf(servers[0].costs, servers[1].costs), &tally{}
	fmt.Printf("\nEnvoy's checks over gRPC, warm: %.1f µs; a bare echo: %.1f µs\n", medianOf(servers[0].costs).median, medianOf(servers[1].costs).median)
	fmt.Printf("%s  %.2f  [%.2f, %.2f]  a check to a bare gRPC echo, at most %.1f\n", t.judge(m.median <= extAuthzLimit), m.median, m.low, m.high, extAuthzLimit)
}
