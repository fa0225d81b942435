package servers

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"
)

// Proxy runs a proxy's program, in a folder, until the test process is done, and waits until
// something listens at the address.
func Proxy(t testing.TB, address, dir, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, "no "+program+" is installed")
	}
	p, err := startIn(dir, path, args...)
	if err != nil {
		t.Fatal(err)
	}
	err = until(func() error {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", address)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	if err != nil {
		p.kill()
		t.Fatalf("%s does not listen: %v\n%s", program, err, p.output)
	}
}
