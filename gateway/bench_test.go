package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/portcullis-authz/portcullis/gateway"
	credential "github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
)

// benchQuestion is a service's question about a user's role in a project.
func benchQuestion() string {
	return question("accounts/acct-a-v1/projects/proj-a-v1/instances", "X-Request-ID: bench")
}

// realPolicy puts the embedded policy and a user with a role in the edge.
func realPolicy(b *testing.B) func(*gateway.Config) {
	b.Helper()
	e, err := engine.New(context.Background(), policies.Tree(), proof.Load, engine.Options{Deadline: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	subject := &resources.Subject{
		AccountID: "acct-a-v1", AccountExists: true, AccountStatus: resources.StatusActive, UserID: "user-bob-v1", UserExists: true, UserStatus: resources.StatusActive, Member: true,
		Assignments: []resources.HeldRole{{
			RoleID: "project_reader", RoleScope: resources.RoleScopeProject, RoleStatus: resources.StatusActive, ProjectID: "proj-a-v1", Status: resources.StatusActive,
		}},
	}
	nobody := &resources.Subject{AccountID: "acct-a-v1", AccountExists: true, AccountStatus: resources.StatusActive}
	return func(c *gateway.Config) {
		c.Judge.Pin = func() verdict.Tree { return e.Pin() }
		for _, r := range e.Routes() {
			if r.Name == "authorization.check" {
				c.Catalogue, c.Handlers, c.Upstreams = []resources.Route{r}, nil, nil
			}
		}
		c.Authn = authn{func(context.Context, string) (resources.Principal, error) {
			return resources.Principal{Kind: resources.PrincipalService, ID: "service-bench", Scopes: []string{resources.ServiceScopeCheck}, Credential: resources.CredentialToken}, nil
		}}
		c.Judge.Facts = facts{func(_ context.Context, _, user, project string) (resources.Facts, error) {
			f := resources.Facts{Revision: 7, Subject: nobody}
			if user != "" {
				f.Subject = subject
			}
			if project != "" {
				f.ProjectState = resources.ProjectActive
			}
			return f, nil
		}}
		c.Observe = nil
	}
}

// again sends the same request on one connection each time, and throws the answers away.
func again(t testing.TB, c net.Conn, raw string) func() {
	t.Helper()
	r := bufio.NewReader(c)
	request := []byte(raw)
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	head := &counter{r: r}
	resp, err := http.ReadResponse(bufio.NewReaderSize(head, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s %v", resp.StatusCode, body, err)
	}
	size := head.n // every answer has the same length: ids and dates have fixed ones
	return func() {
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Peek(1); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Discard(size); err != nil {
			t.Fatal(err)
		}
	}
}

func benchClient(b *testing.B, c net.Conn, raw string) {
	b.Helper()
	exchange := again(b, c, raw)
	b.ReportAllocs()
	for b.Loop() {
		exchange()
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// warm is an edge with constant answers of policy and facts, and a service's question to it. It
// checks a token of the built-in issuer, remembered or anew.
func warm(t testing.TB, remembered int) (*edge, string) {
	t.Helper()
	signer, err := credential.NewSigner(masterKey())
	if err != nil {
		t.Fatal(err)
	}
	token, err := signer.Sign(credential.TokenRequest{Subject: "service-bench", Scopes: []string{resources.ServiceScopeCheck}, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	authenticator, err := credential.New(credential.Options{
		Issuers: []credential.Issuer{signer.Issuer()}, Directory: nobodies{}, CachedTokens: remembered,
	})
	if err != nil {
		t.Fatal(err)
	}
	constant := resources.Facts{Revision: 7000, Subject: &resources.Subject{}}
	e := start(t, func(c *gateway.Config) {
		c.Authn = authenticator
		c.Judge.Facts = facts{func(context.Context, string, string, string) (resources.Facts, error) { return constant, nil }}
		c.Observe = func(gateway.Record) {}
	})
	return e, strings.Replace(benchQuestion(), goodToken, token, 1)
}

// IdentifyKey implements authn.Directory.
func (nobodies) IdentifyKey(context.Context, string) (resources.KeyIdentity, bool, error) {
	return resources.KeyIdentity{}, false, nil
}

// AgentOf implements authn.Directory.
func (nobodies) AgentOf(context.Context, string, resources.AgentClient) (resources.Identity, bool, error) {
	return resources.Identity{}, false, nil
}

// nobodies is a directory without users.
type nobodies struct{}

func (nobodies) Identify(context.Context, string, bool, bool) (resources.Identity, bool, error) {
	return resources.Identity{}, false, nil
}

// BenchmarkAuthorize is one warm E3 through the whole edge; of it BenchmarkBareFiber is what
// the framework and the connection take.
func BenchmarkAuthorize(b *testing.B) {
	b.Run("embedded policy", func(b *testing.B) {
		benchClient(b, start(b, realPolicy(b)).dial(b).Conn, benchQuestion())
	})
	b.Run("constant policy", func(b *testing.B) {
		e, question := warm(b, 0)
		benchClient(b, e.dial(b).Conn, question)
	})
	b.Run("constant policy, token verified anew", func(b *testing.B) {
		e, question := warm(b, -1)
		benchClient(b, e.dial(b).Conn, question)
	})
	b.Run("constant policy, no request id", func(b *testing.B) {
		e, question := warm(b, 0)
		benchClient(b, e.dial(b).Conn, strings.Replace(question, "X-Request-ID: bench\r\n", "", 1))
	})
}

// bareFiber is a connection to a handler that answers a constant of the same length.
func bareFiber(t testing.TB) net.Conn {
	t.Helper()
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, StreamRequestBody: true})
	app.Use(func(c *fiber.Ctx) error {
		c.Set("Content-Type", "application/json")
		return c.SendString(`{"allowed":true,"reason":"role project_reader grants project:instance:read"}`)
	})
	listener := fasthttputil.NewInmemoryListener()
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	t.Cleanup(func() { _ = listener.Close(); <-served })
	c, err := listener.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// BenchmarkBareFiber is what the framework takes by itself.
func BenchmarkBareFiber(b *testing.B) { benchClient(b, bareFiber(b), benchQuestion()) }
