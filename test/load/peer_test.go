package load_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"

	"github.com/portcullis-authz/portcullis/gateway/authn"
)

// envPeer has the test's program be a peer: its value is a peer in JSON.
const envPeer = "PORTCULLIS_TEST_LOAD_PEER"

// checkPath is the path of a question as far as the account.
const checkPath = "/api/v1/authorize/accounts/"

// The peers that answer in a fiber handler.
const (
	peerBare   = "bare"
	peerToken  = "token"
	peerCedar  = "cedar"
	peerCasbin = "casbin"
)

// peer is what such a process serves: the loadRoles(Roles), held by the users of a world.
type peer struct {
	Kind                      string
	Account                   string
	Roles, Users, Assignments int
	// Key checks the tokens' signatures.
	Key ed25519.PublicKey
}

// asked is a question as a peer reads it from the path and the headers. The strings are copies.
type asked struct{ token, user, account, action, path string }

// place is the project and the resource of the path; they are empty where it names another account.
func (a asked) place() (project, resource string) {
	part := strings.Split(strings.TrimPrefix(a.path, checkPath), "/")
	if len(part) != 5 || part[0] != a.account {
		return "", ""
	}
	return part[2], part[4]
}

// decider says whether a question is allowed.
type decider func(asked) (bool, error)

// servePeer serves one until the process is killed.
func servePeer(settings string) int {
	err := func() error {
		var p peer
		if err := json.Unmarshal([]byte(settings), &p); err != nil {
			return err
		}
		if p.Kind == peerEcho {
			return serveEcho()
		}
		decide, err := p.decider()
		if err != nil {
			return err
		}
		app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, StreamRequestBody: true})
		app.Use(func(c *fiber.Ctx) error { return answer(c, decide) })
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "{\"msg\":\"ready\",\"listen\":%q}\n", listener.Addr())
		return app.Listener(listener)
	}()
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// answer reads the question, and answers with as many bytes as a decision has.
func answer(c *fiber.Ctx, decide decider) error {
	allowed, err := decide(asked{
		token: c.Get("Authorization"), user: c.Get("X-User-ID"), account: c.Get("X-Account-ID"), action: c.Get("X-Action"),
		path: c.Path(),
	})
	if err != nil {
		return c.Status(fiber.StatusInternalServerError).SendString(err.Error())
	}
	c.Set("Content-Type", "application/json")
	if !allowed {
		return c.SendString(`{"allowed":false,"reason":"no role of the user grants project:kind0000:verb00"}`)
	}
	return c.SendString(`{"allowed":true,"reason":"role load_0000 grants project:kind0000:verb00"}`)
}

func (p peer) decider() (decider, error) {
	switch p.Kind {
	case peerBare:
		return func(asked) (bool, error) { return true, nil }, nil
	case peerToken:
		return p.token(), nil
	case peerCedar:
		return p.cedar()
	case peerCasbin:
		return p.casbin()
	}
	return nil, fmt.Errorf("there is no peer %q", p.Kind)
}

// token allows every question whose token holds, and checks each token each time.
func (p peer) token() decider {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(authn.BuiltinIssuer),
		jwt.WithAudience(authn.BuiltinAudience), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding())
	key := func(*jwt.Token) (any, error) { return p.Key, nil }
	return func(a asked) (bool, error) {
		_, err := parser.ParseWithClaims(strings.TrimPrefix(a.token, "Bearer "), &jwt.RegisteredClaims{}, key)
		return err == nil, err
	}
}

// world is the data of the peer's process.
func (p peer) world() *world {
	return &world{account: p.Account, users: p.Users, assignments: p.Assignments, roles: loadRoles(p.Roles)}
}
