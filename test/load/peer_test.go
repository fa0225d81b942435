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

// envPeer makes the test's program a peer. Its value is a peer in JSON.
const envPeer = "PORTCULLIS_TEST_LOAD_PEER"

// checkPath is the beginning of a question's path, up to the account.
const checkPath = "/api/v1/authorize/accounts/"

// The peers with a fiber handler.
const (
	peerBare   = "bare"
	peerToken  = "token"
	peerCedar  = "cedar"
	peerCasbin = "casbin"
)

// peer is the settings of a peer: the users of a world hold loadRoles(Roles).
type peer struct {
	Kind                      string
	Account                   string
	Roles, Users, Assignments int
	// Key verifies tokens.
	Key ed25519.PublicKey
}

// asked is a question in the path and the headers of a request. The strings are copies.
type asked struct{ token, user, account, action, path string }

// place returns the project and the resource of the path, or "" if it names another account.
func (a asked) place() (project, resource string) {
	part := strings.Split(strings.TrimPrefix(a.path, checkPath), "/")
	if len(part) != 5 || part[0] != a.account {
		return "", ""
	}
	return part[2], part[4]
}

// decider decides whether a question is allowed.
type decider func(asked) (bool, error)

// servePeer runs a peer until the process is killed.
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

// token returns a decider that allows every question with a valid token. It verifies the token each time.
func (p peer) token() decider {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(authn.BuiltinIssuer),
		jwt.WithAudience(authn.BuiltinAudience), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding())
	key := func(*jwt.Token) (any, error) { return p.Key, nil }
	return func(a asked) (bool, error) {
		_, err := parser.ParseWithClaims(strings.TrimPrefix(a.token, "Bearer "), &jwt.RegisteredClaims{}, key)
		return err == nil, err
	}
}

// world returns the data of the peer.
func (p peer) world() *world {
	return &world{account: p.Account, users: p.Users, assignments: p.Assignments, roles: loadRoles(p.Roles)}
}
