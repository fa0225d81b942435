package flood_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// request is one with a token; a body is JSON.
func request(token, method, path, body string, headers ...string) string {
	more := ""
	for i := 0; i+1 < len(headers); i += 2 {
		more += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, token, more, len(body), body)
}

// line is a connection on which one request is sent after the other.
type line struct {
	net.Conn
	answers *bufio.Reader
}

func connect(t *testing.T, g *gateway) *line {
	t.Helper()
	c := must.Get(net.Dial("tcp", g.address))(t)
	t.Cleanup(func() { _ = c.Close() })
	return &line{c, bufio.NewReader(c)}
}

// waits are the answers to one kind of request.
type waits struct {
	mu sync.Mutex
	answers
}

// answers are how many there were of each status, 0 for none, and how long each took.
type answers struct {
	Statuses map[int]int
	Took     []time.Duration
}

func (w *waits) ask(t *testing.T, c *line, raw string) {
	sent := time.Now()
	_, err := io.WriteString(c, raw)
	status := 0
	if err == nil {
		status, err = answer(c.answers)
	}
	w.add(status, time.Since(sent))
	if err != nil {
		t.Error(err)
	}
}

func (w *waits) add(status int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Statuses == nil {
		w.Statuses = map[int]int{}
	}
	w.Statuses[status]++
	w.Took = append(w.Took, took)
}

// answeredWithin says whether all were answered 200, in that time.
func (w *waits) answeredWithin(longest time.Duration) bool {
	return w.Statuses[http.StatusOK] > 0 && len(w.Statuses) == 1 && slices.Max(w.Took) <= longest
}

// String gives how many there were, and how long they took.
func (w *waits) String() string {
	if len(w.Took) == 0 {
		return "none"
	}
	slices.Sort(w.Took)
	pick := func(p float64) time.Duration { return percentile(w.Took, p).Round(100 * time.Microsecond) }
	return fmt.Sprintf("%v, p50 %s, p99 %s, longest %s", w.Statuses, pick(50), pick(99), pick(100))
}
