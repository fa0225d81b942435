//go:build nightly

package flood_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

const (
	// listings are sent at once, again and again, beside questions on so many connections.
	listings, questioners = 40, 8
	listingTime           = 8 * time.Second
	// longest is how long anybody may wait.
	longest = time.Second
)

// TestListingOthersKeysHoldsNobodyUp: a burst of listings of another user's keys, each after
// a change of the caller's rights, so that none is decided from the cache, beside questions
// that nobody asked before. It judges waits, so it has the machine to itself; the short form is
// TestNoHandlerWaitsForTheGate.
func TestListingOthersKeysHoldsNobodyUp(t *testing.T) {
	apart(t)
	g := startGateway(t, size{cores: gatewayCore})
	alice := g.tokenOf(t, "--user", "user-alice-v1")
	kinds := map[string]*waits{"listing": {}, "question": {}, "change": {}}
	end := time.Now().Add(listingTime)
	var all sync.WaitGroup
	for i := range questioners {
		all.Go(func() {
			c := connect(t, g)
			for n := 0; time.Now().Before(end); n++ {
				kinds["question"].ask(t, c, g.question(fmt.Sprintf("user-cold-%d-%d-v1", i, n)))
			}
		})
	}
	burst := make([]*line, listings)
	for i := range burst {
		burst[i] = connect(t, g)
	}
	admin := connect(t, g)
	for n := 0; time.Now().Before(end); n++ {
		body := fmt.Sprintf(`{"expiresAt":%q}`, time.Now().Add(time.Hour+time.Duration(n)*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"))
		kinds["change"].ask(t, admin, request(alice, "PUT", "/api/v1/accounts/acct-demo-v1/roles/account_reader/assignments/user-alice-v1", body))
		var sent sync.WaitGroup
		for _, c := range burst {
			sent.Go(func() {
				kinds["listing"].ask(t, c, request(alice, "GET", "/api/v1/accounts/acct-demo-v1/users/user-bob-v1/keys", ""))
			})
		}
		sent.Wait()
	}
	all.Wait()
	for kind, w := range kinds {
		t.Logf("%s: %v, longest %s", kind, w.statuses, w.longest)
		if w.statuses[http.StatusOK] == 0 || len(w.statuses) > 1 || w.longest > longest {
			t.Errorf("%s: %v, longest %s; want 200 within %s", kind, w.statuses, w.longest, longest)
		}
	}
}

// request is one with a token; a body is JSON.
func request(token, method, path, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, token, len(body), body)
}

// line is a connection on which one request is sent after the other.
type line struct {
	net.Conn
	answers *bufio.Reader
}

func connect(t *testing.T, g *gateway) *line {
	t.Helper()
	c, err := net.Dial("tcp", g.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &line{c, bufio.NewReader(c)}
}

// waits are the answers to one kind of request.
type waits struct {
	mu       sync.Mutex
	statuses map[int]int
	longest  time.Duration
}

func (w *waits) ask(t *testing.T, c *line, raw string) {
	sent := time.Now()
	_, err := io.WriteString(c, raw)
	status := 0
	if err == nil {
		status, err = answer(c.answers)
	}
	took := time.Since(sent)
	if err != nil {
		t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.statuses == nil {
		w.statuses = map[int]int{}
	}
	w.statuses[status]++
	w.longest = max(w.longest, took)
}
