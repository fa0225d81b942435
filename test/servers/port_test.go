package servers_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestAddressStaysFree: it answers nobody, a server can listen there and come back, and whoever
// asks for any port is never given it, though there are only some thousands.
func TestAddressStaysFree(t *testing.T) {
	address := servers.Address(t)
	for range 2 {
		if c, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("somebody answers: %v %v", c, err)
		}
		for range 30_000 {
			if other := listen(t, "127.0.0.1:0"); other == address {
				t.Fatal("it was given to somebody else")
			}
		}
		if at := listen(t, address); at != address {
			t.Errorf("a server listens at %s", at)
		}
	}
}

// listen listens for a moment, and says where that was.
func listen(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
