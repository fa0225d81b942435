package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// benchQuestion is a service's question about a user's role in a project.
func benchQuestion() string {
	return question("accounts/acct-a-v1/projects/proj-a-v1/instances", "X-Request-ID: bench")
}

// realPolicy puts the embedded policy and a user with a role in the edge.
func realPolicy(b *testing.B) func(*gateway.Config) {
	b.Helper()
	e, err := engine.New(context.Background(), policies.Tree(), engine.Options{Deadline: time.Second})
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
		c.Policy = e
		for _, r := range e.Routes() {
			if r.Name == "E3" {
				c.Catalogue, c.Handlers, c.Upstreams = []resources.Route{r}, nil, nil
			}
		}
		c.Authn = authn{func(context.Context, string) (resources.Principal, error) {
			return resources.Principal{Kind: resources.PrincipalService, ID: "service-bench", Scopes: []string{resources.ServiceScopeCheck}, Credential: resources.CredentialToken}, nil
		}}
		c.Facts = facts{func(_ context.Context, _, user, project string) (resources.Facts, error) {
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

// benchClient sends the same request on one connection and throws the answers away.
func benchClient(b *testing.B, c net.Conn, raw string) {
	b.Helper()
	r := bufio.NewReader(c)
	request := []byte(raw)
	var size int
	exchange := func() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Peek(1); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Discard(size); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := c.Write(request); err != nil {
		b.Fatal(err)
	}
	head := &counter{r: r}
	resp, err := http.ReadResponse(bufio.NewReaderSize(head, 16), nil)
	if err != nil {
		b.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		b.Fatalf("%d %s %v", resp.StatusCode, body, err)
	}
	size = head.n // every answer has the same length: ids and dates have fixed ones
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

// BenchmarkAuthorize is one warm E3 through the whole edge with the embedded policy;
// of it BenchmarkBareFiber is what the framework and the connection take.
func BenchmarkAuthorize(b *testing.B) {
	b.Run("embedded policy", func(b *testing.B) {
		benchClient(b, start(b, realPolicy(b)).dial(b).Conn, benchQuestion())
	})
	b.Run("constant policy", func(b *testing.B) {
		embedded := realPolicy(b)
		benchClient(b, start(b, embedded, func(c *gateway.Config) { c.Policy = policy{allow, allow} }).dial(b).Conn, benchQuestion())
	})
}

// BenchmarkBareFiber is a handler that answers a constant of the same length.
func BenchmarkBareFiber(b *testing.B) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, StreamRequestBody: true})
	app.Use(func(c *fiber.Ctx) error {
		c.Set("Content-Type", "application/json")
		return c.SendString(`{"allowed":true,"reason":"role project_reader grants project:instance:read"}`)
	})
	listener := fasthttputil.NewInmemoryListener()
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	b.Cleanup(func() { _ = listener.Close(); <-served })
	c, err := listener.Dial()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	benchClient(b, c, benchQuestion())
}
