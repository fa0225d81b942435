package gateway_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/portcullis-authz/portcullis/gateway"
	credential "github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/e3"
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// policy, authn and facts are fakes: structs of functions.
type policy struct {
	decide, access func(context.Context, resources.Question) (resources.Decision, error)
}

func (p policy) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return p.decide(ctx, q)
}

func (p policy) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return p.access(ctx, q)
}

func (p policy) pin() func() verdict.Tree {
	var t verdict.Tree = tree{policy: &p}
	return func() verdict.Tree { return t }
}

// tree is a policy tree that decides by a policy.
type tree struct {
	verdict.Tree
	policy *policy
}

func (t tree) Decide(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return t.policy.Decide(ctx, q)
}

func (t tree) Access(ctx context.Context, q resources.Question) (resources.Decision, error) {
	return t.policy.Access(ctx, q)
}

func (tree) AccessByUser(string) bool { return true }

type authn struct {
	verify func(context.Context, string) (resources.Principal, error)
}

func (a authn) Authenticate(ctx context.Context, authorization, _ []string) (resources.Principal, error) {
	token, err := credential.BearerToken(authorization...)
	if err != nil {
		return resources.Principal{}, err
	}
	return a.verify(ctx, token)
}

// audienceKey is the key of the audience for which a token is verified.
type audienceKey struct{}

func (a authn) AuthenticateFor(ctx context.Context, audience, _ string, authorization []string) (resources.Principal, error) {
	return a.Authenticate(context.WithValue(ctx, audienceKey{}, audience), authorization, nil)
}

type facts struct {
	get func(ctx context.Context, account, user, project string) (resources.Facts, error)
}

func (f facts) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	return f.get(ctx, account, user, project)
}

func (f facts) FactsOf(ctx context.Context, account string, pairs []resources.About, all []resources.Facts) (err error) {
	for i, pair := range pairs {
		if all[i], err = f.get(ctx, account, pair.UserID, pair.ProjectID); err != nil {
			return err
		}
	}
	return nil
}

func (facts) Homes(context.Context, []string) ([]string, error) {
	return nil, errors.New("nobody is looked for")
}

// goodToken is the one the fake authenticator takes; secret marks what no answer and
// no record may show.
const (
	goodToken = "good-marked-secret"
	badToken  = "bad-marked-secret"
	secret    = "marked-secret"
)

func allow(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: true, Reason: "a test says so", PolicyRevision: "rev-1"}, nil
}

func deny(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Reason: "a test says no", PolicyRevision: "rev-1"}, nil
}

func alice(_ context.Context, token string) (resources.Principal, error) {
	if token != goodToken {
		return resources.Principal{}, &resources.Error{Kind: resources.KindBadCredential, Message: "The token is not valid."}
	}
	return resources.Principal{Kind: resources.PrincipalUser, ID: "user-alice-v1", AccountID: "acct-a-v1", Credential: resources.CredentialToken}, nil
}

// edge is a gateway in memory.
type edge struct {
	*gateway.Edge
	listener *fasthttputil.InmemoryListener

	mu      sync.Mutex
	records []gateway.Record
}

// ok is a handler that answers its route's parameters.
func ok(_ context.Context, r *wire.Request) (wire.Response, error) { return wire.OK(r.Params) }

// catalogue has a row of every kind.
func catalogue() []resources.Route {
	return []resources.Route{
		{Name: "authorization.check", Method: "POST", Path: "/api/v1/authorize/{proxy+}", Action: "account:authorization:check", Area: "access", Upstream: "authorize"},
		{Name: "list", Method: "GET", Path: "/api/v1/accounts/{accountId}/roles", Action: "account:role:read", Area: "access", Upstream: "access"},
		{Name: "create", Method: "POST", Path: "/api/v1/accounts/{accountId}/roles", Action: "account:role:create", Area: "access", Upstream: "access"},
		{Name: "user", Method: "PUT", Path: "/api/v1/users/{user_id}", Area: "users", Upstream: "access"},
		{Name: "wall", Method: "POST", Path: "/api/v1/projects/{project_id}/walls", Action: "project:wall:create", Area: "firewall", Upstream: "access"},
		{Name: "public", Method: "POST", Path: "/public", Access: []string{"public"}, Area: "access", Upstream: "access"},
		{Name: "things", Method: "GET", Path: "/api/v1/projects/{projectId}/things/{proxy+}", Action: "project:thing:read", Area: "compute", Upstream: "things"},
		{Name: "make", Method: "POST", Path: "/api/v1/projects/{projectId}/things/{proxy+}", Action: "project:thing:create", Area: "compute", Upstream: "things"},
		{Name: "open", Method: "GET", Path: "/open/{proxy+}", Access: []string{"public"}, Area: "access", Upstream: "things"},
	}
}

func handlers() map[string]wire.Routes {
	return map[string]wire.Routes{"access": {"list": ok, "create": ok, "user": ok, "wall": ok, "public": ok}}
}

// masterKey is made anew for each run.
var masterKey = sync.OnceValue(func() resources.MasterKey {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		panic(err)
	}
	return master
})

func assertions() *assertion.Keys {
	keys, err := assertion.NewKeys(masterKey(), time.Now)
	if err != nil {
		panic(err)
	}
	return keys
}

func config() gateway.Config {
	limits := gateway.DefaultLimits()
	limits.Body = 64 << 10
	nowhere := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	ids := resources.IDs{Now: time.Now, Random: rand.Reader}
	judge := &verdict.Judge{
		Pin: policy{allow, allow}.pin(),
		Facts: facts{func(_ context.Context, account, user, _ string) (resources.Facts, error) {
			return resources.Facts{Revision: 7, Subject: &resources.Subject{AccountID: account, UserID: user}}, nil
		}},
		IDs: ids, Now: time.Now,
	}
	return gateway.Config{
		Judge: judge, Authn: authn{alice}, Doors: map[string]doors.Door{"authorization.check": e3.Door{Judge: judge, DenyStatus: 200}},
		Catalogue: catalogue(), Revision: "rev-1", Handlers: handlers(), Upstreams: map[string]*url.URL{"things": nowhere},
		Assertions: assertions(),
		Limits:     limits, Now: time.Now, Log: slog.New(slog.DiscardHandler), IDs: ids,
	}
}

// start serves an edge that change has changed.
func start(t testing.TB, change ...func(*gateway.Config)) *edge {
	t.Helper()
	return serve(t, gateway.New, change...)
}

func serve(t testing.TB, build func(gateway.Config) (*gateway.Edge, error), change ...func(*gateway.Config)) *edge {
	t.Helper()
	e := &edge{listener: fasthttputil.NewInmemoryListener()}
	cfg := config()
	cfg.Observe = func(r gateway.Record) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.records = append(e.records, r)
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if e.Edge, err = build(cfg); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.Listen(e.listener) }()
	t.Cleanup(func() {
		_ = e.listener.Close()
		<-served
	})
	return e
}

// last is the newest record. The server records before it answers.
func (e *edge) last(t testing.TB) gateway.Record {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.records) == 0 {
		t.Fatal("no request was recorded")
	}
	return e.records[len(e.records)-1]
}

// reply is an answer, read to its end; Close says that the server closes after it.
type reply struct {
	Status int
	Header http.Header
	Body   string
	Close  bool
}

// link is one connection to an edge.
type link struct {
	net.Conn
	r *bufio.Reader
}

func (e *edge) dial(t testing.TB) *link {
	t.Helper()
	c := must.Get(e.listener.Dial())(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &link{c, bufio.NewReader(c)}
}

// send writes raw bytes and reads one answer.
func (l *link) send(t testing.TB, raw string) reply {
	t.Helper()
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		_, _ = io.WriteString(l, raw) // the server may answer and close before it has read all
	}()
	r := l.read(t)
	if !r.Close {
		<-wrote
	}
	return r
}

func (l *link) read(t testing.TB) reply {
	t.Helper()
	resp, err := http.ReadResponse(l.r, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the answer's body: %v", err)
	}
	return reply{resp.StatusCode, resp.Header, string(body), resp.Close}
}

// send is one request on a connection of its own.
func (e *edge) send(t testing.TB, raw string) reply {
	t.Helper()
	return e.dial(t).send(t, raw)
}

// request is a raw HTTP/1.1 request; headers are whole lines.
func request(method, target, body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: gateway\r\n", method, target)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "\r\n" + body
}

const (
	bearer   = "Authorization: Bearer " + goodToken
	jsonType = "Content-Type: application/json"
)

// question is a well-formed E3 about path, with the headers that are not replaced.
func question(path string, headers ...string) string {
	return request("POST", "/api/v1/authorize/"+path, "", append([]string{
		bearer, "X-User-ID: user-bob-v1", "X-Account-ID: acct-a-v1", "X-Action: project:instance:read",
	}, headers...)...)
}
