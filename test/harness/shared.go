package harness

import (
	"os"
	"sync"
	"testing"
)

// shared is one gateway for all tests that need no more of it than an account of their
// own: starting one costs a second.
var shared struct {
	sync.Mutex
	gateway *Gateway
	failed  bool
	teams   int
	end     []func()
}

// sharedTeams is how many accounts have their users ready in the shared gateway.
const sharedTeams = 250

// lasting is a test whose clean-up waits for the end of the whole run.
type lasting struct{ testing.TB }

// Cleanup implements testing.TB; shared is locked by whoever starts the gateway.
func (lasting) Cleanup(f func()) { shared.end = append(shared.end, f) }

// TempDir implements testing.TB.
func (l lasting) TempDir() string {
	dir, err := os.MkdirTemp("", "portcullis-shared")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

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
	shared.Lock()
	defer shared.Unlock()
	if shared.failed {
		t.Fatal("the shared gateway did not start; see the first test that asked for it")
	}
	if shared.gateway == nil {
		shared.failed = true
		dir := lasting{t}.TempDir()
		seedTeams(t, dir, 1, sharedTeams)
		shared.gateway = StartIn(lasting{t}, dir, "--public-url", PublicURL)
		shared.failed = false
	}
	return shared.gateway
}

// NewTeam is a scene with members, in the shared gateway.
func NewTeam(t testing.TB) *Team {
	t.Helper()
	g := Shared(t)
	shared.Lock()
	shared.teams++
	n := shared.teams
	shared.Unlock()
	if n > sharedTeams {
		t.Fatalf("sharedTeams is too small: raise it over %d", n)
	}
	return TeamIn(t, g, n)
}
