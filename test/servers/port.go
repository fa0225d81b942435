package servers

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
)

// Address is a new host:port on loopback without a listener, for a server that comes later, or goes and comes back. The
// system gives the port to nobody else until the test process ends.
func Address(t testing.TB) string {
	t.Helper()
	port, err := reservedPort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// reservedPort is one that stays the caller's until the test process ends. The system gives a bound port to no process
// that asks for any port, to listen or to connect. This socket never listens, and with SO_REUSEADDR, set by servers
// too, one that does may be beside it.
func reservedPort() (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return 0, errors.Join(err, syscall.Close(fd))
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, errors.Join(err, syscall.Close(fd))
	}
	return name.(*syscall.SockaddrInet4).Port, nil // of an AF_INET socket
}
