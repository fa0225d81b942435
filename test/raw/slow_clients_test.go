package raw_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// slowTime is how long a request and an answer may take in these tests, and slowEnd by when
// the gateway has ended a slow one on a busy machine.
const (
	slowTime = "1s"
	slowEnd  = 20 * time.Second
)

func socket(t *testing.T, url string) *net.TCPConn {
	t.Helper()
	_, place, _ := strings.Cut(url, "://")
	c := must.Get(net.Dial("tcp", place))(t)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(slowEnd))
	return c.(*net.TCPConn)
}

// TestSlowSendersAreClosed, wherever they are slow: each byte comes in time, the request does
// not. Nothing waits for them: the next request is answered.
func TestSlowSendersAreClosed(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--read-timeout", slowTime, "--idle-timeout", slowTime)
	const get = "GET /openapi.json HTTP/1.1\r\nHost: gateway\r\n\r\n"
	for name, c := range map[string]struct {
		begin, byte string
		answers     []int // before the end, 0 for none
	}{
		"nothing":                 {"", "", []int{0, 408}},
		"request line":            {"GET /o", "p", []int{408}},
		"headers":                 {"GET /openapi.json HTTP/1.1\r\nHost: g", "a", []int{408}},
		"a header after another":  {"GET /openapi.json HTTP/1.1\r\nHost: g\r\n", "X: y\r\n", []int{408}},
		"body":                    {"POST /api/v1/accounts HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", " ", []int{400, 408}},
		"chunks":                  {"POST /api/v1/accounts HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", []int{400, 408}},
		"between two requests":    {get, "", []int{200}},
		"the head of the second":  {get + "GET /o", "p", []int{200}},
		"empty lines without end": {"\r\n", "\r\n", []int{0, 400, 408}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := socket(t, g.URL)
			began := time.Now()
			must.Get(io.WriteString(conn, c.begin))(t)
			stop := make(chan bool)
			defer close(stop)
			go func() {
				for tick := time.NewTicker(100 * time.Millisecond); c.byte != ""; {
					select {
					case <-stop:
						tick.Stop()
						return
					case <-tick.C:
						_, _ = io.WriteString(conn, c.byte)
					}
				}
			}()
			all, err := io.ReadAll(conn) // until the gateway ends it, or resets it
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("it is open after %s", time.Since(began))
			}
			status := 0
			if r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(all))), nil); err == nil {
				status = r.StatusCode
			}
			for _, want := range c.answers {
				if status == want {
					return
				}
			}
			t.Errorf("answered %d, want one of %v: %.200q", status, c.answers, all)
		})
	}
	if r := harness.Call(t, "GET", g.URL+"/openapi.json", "", ""); r.Status != 200 {
		t.Errorf("another client: %d", r.Status)
	}
}

// TestSlowReadersAreClosed: who asks for more than fits into the system's buffers and reads
// none of it holds the gateway's memory for as long as an answer may take.
func TestSlowReadersAreClosed(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--write-timeout", slowTime, "--read-timeout", "5m")
	conn := socket(t, g.URL)
	_ = conn.SetReadBuffer(4 << 10)
	page := strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: gateway\r\n\r\n", 400) // some 100 MB of answers
	harness.Soon(t, "the connection is open", func() bool { return harness.MetricOf(t, g, "portcullis_connections") >= 1 })
	go func() { _, _ = io.WriteString(conn, page) }()
	harness.Soon(t, "the connection is closed", func() bool { return harness.MetricOf(t, g, "portcullis_connections") == 0 })
}

// TestSizesAreSettable: what fits by default does not where a limit is lower, and the reverse.
func TestSizesAreSettable(t *testing.T) {
	t.Parallel()
	g := harness.Launch(t, t.TempDir(), "--body-limit", "1000", "--header-limit", "65536")
	s := harness.NewScene(t, g)
	body := `{"name":"` + strings.Repeat("x", 1000) + `"}`
	if r := harness.Call(t, "POST", s.Path("/projects"), s.AdminToken, body); r.Status != 413 {
		t.Errorf("a body over the limit: %d %s", r.Status, r.Raw)
	}
	long := "X-A: " + strings.Repeat("a", 40<<10)
	if a := harness.SendRaw(t, g.URL, s.RawQuestion("", long)); a.Status != 200 {
		t.Errorf("headers of 40 KiB: %d %s", a.Status, a.Body)
	}
	if a := harness.SendRaw(t, g.URL, s.RawQuestion("", long, long)); a.Status != 431 {
		t.Errorf("headers of 80 KiB: %d %s", a.Status, a.Body)
	}
}
