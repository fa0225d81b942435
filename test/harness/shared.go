package harness

import (
	"os"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// shared are gateways for all tests that need no more of one than an account of their
// own: starting one costs a second.
var shared struct {
	sync.Mutex
	byName map[string]*sharedGateway
	end    []func()
}

type sharedGateway struct {
	*Gateway // nil if it did not start
	teams    int
}

// sharedTeams is how many accounts have their users ready in a shared gateway.
const sharedTeams = 250

// lasting is a test whose clean-up waits for the end of the whole run.
type lasting struct{ testing.TB }

// Cleanup implements testing.TB; the starter of the gateway has locked shared.
func (lasting) Cleanup(f func()) { shared.end = append(shared.end, f) }

// TempDir implements testing.TB. The folder goes with all temporary files of the process.
func (l lasting) TempDir() string { return must.Get(os.MkdirTemp("", "portcullis-shared"))(l) }

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	for i := len(shared.end) - 1; i >= 0; i-- {
		shared.end[i]()
	}
}

// PublicURL is the URL under which clients reach the shared gateway, by its settings.
const PublicURL = "https://gateway.example/authz"

// Shared starts it when the first test asks for it.
func Shared(t testing.TB) *Gateway {
	t.Helper()
	return sharedAs(t, "", publicly).Gateway
}

func publicly(testing.TB) []string { return []string{"--public-url", PublicURL} }

// sharedAs starts the gateway of that name, with these arguments, when the first test asks for it.
func sharedAs(t testing.TB, name string, args func(t testing.TB) []string) *sharedGateway {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	g := shared.byName[name]
	if g == nil {
		g = &sharedGateway{}
		if shared.byName == nil {
			shared.byName = map[string]*sharedGateway{}
		}
		shared.byName[name] = g
		dir := lasting{t}.TempDir()
		seedTeams(t, dir, 1, sharedTeams)
		g.Gateway = StartIn(lasting{t}, dir, args(lasting{t})...)
	}
	if g.Gateway == nil {
		t.Fatal("the shared gateway did not start; see the first test that asked for it")
	}
	return g
}

// NewTeam is a scene with members, in the shared gateway.
func NewTeam(t testing.TB) *Team {
	t.Helper()
	return NewTeamAs(t, "", publicly)
}

// NewTeamAs is a team in a gateway shared by all tests with this name. It is started with these arguments.
func NewTeamAs(t testing.TB, name string, args func(t testing.TB) []string) *Team {
	t.Helper()
	g := sharedAs(t, name, args)
	shared.Lock()
	g.teams++
	n := g.teams
	shared.Unlock()
	if n > sharedTeams {
		t.Fatalf("sharedTeams is too small: raise it over %d", n)
	}
	return TeamIn(t, g.Gateway, n)
}
