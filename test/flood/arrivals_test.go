package flood_test

import (
	"encoding/binary"
	"errors"
	"net"
	"syscall"
	"time"
)

// arrivals reads a connection's bytes together with the time the system got them: the reader may
// have to wait for a processor held by the flood or its packets. Bytes without such a time have that of the read.
type arrivals struct {
	socket syscall.RawConn
	dst    []byte
}

func newArrivals(c *net.TCPConn) (*arrivals, error) {
	socket, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var refused error
	err = socket.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	return &arrivals{socket: socket, dst: make([]byte, 128)}, errors.Join(err, refused)
}

func (a *arrivals) read(dst []byte) (n int, moment time.Time, err error) {
	count := 0
	waited := a.socket.Read(func(fd uintptr) bool {
		n, count, _, _, err = syscall.Recvmsg(int(fd), dst, a.dst, 0)
		return !errors.Is(err, syscall.EAGAIN)
	})
	if err = errors.Join(waited, err); err != nil {
		return 0, time.Time{}, err
	}
	all, err := syscall.ParseSocketControlMessage(a.dst[:count])
	for _, one := range all {
		if one.Header.Level == syscall.SOL_SOCKET && one.Header.Type == syscall.SCM_TIMESTAMPNS && len(one.Data) == 16 {
			second, nano := binary.NativeEndian.Uint64(one.Data), binary.NativeEndian.Uint64(one.Data[8:])
			return n, time.Unix(int64(second), int64(nano)), nil
		}
	}
	return n, time.Now(), err // Linux turns its timestamps on a moment after the first socket asks for them
}
