package console_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestConnectionsOfTheConsoleAreBounded guarantees that the bounds of the edge hold on the console's listener, too.
func TestConnectionsOfTheConsoleAreBounded(t *testing.T) {
	t.Parallel()
	g := demo(t, "--max-connections-per-address", "20")
	for i := range 40 {
		c, err := net.Dial("tcp", strings.TrimPrefix(g.ConsoleURL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if i < 30 {
			continue
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		answer := make([]byte, 64)
		n, err := c.Read(answer)
		if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 429 ") {
			t.Fatalf("connection %d: %q, %v", i, answer[:n], err)
		}
	}
}

// TestRefusedCredentialsOfAMachineLeaveItsConsoleAlone guarantees that the bound of refused credentials from one address
// does not refuse the console's calls. They come from the gateway's process, and their tokens are the users'.
func TestRefusedCredentialsOfAMachineLeaveItsConsoleAlone(t *testing.T) {
	t.Parallel()
	g := demo(t, "--rate-failures", "24/h,3")
	b := signIn(t, g, alice)
	for range 4 {
		harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+demoAccount+"/roles", "x.x.x", "")
	}
	if got := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+demoAccount+"/roles", "x.x.x", ""); got.Status != http.StatusTooManyRequests {
		t.Errorf("the address: %d", got.Status)
	}
	if got := b.get("/ask"); got.Status != http.StatusOK {
		t.Errorf("the console: %d\n%s", got.Status, got.Body)
	}
}
