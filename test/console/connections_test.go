package console_test

import (
	"net"
	"strings"
	"testing"
	"time"
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
