package listen

import (
	"context"
	"net"
	"sync"
)

// Memory is a listener whose connections come from this process alone, through Dial.
type Memory struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    sync.Once
}

// NewMemory makes a listener.
func NewMemory() *Memory { return &Memory{accepted: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.accepted:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *Memory) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (*Memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Dial connects to the listener. Its arguments are those of a dialler, and only the context counts.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.accepted <- memoryConn{server, m.Addr()}:
		return client, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// memoryConn is a connection that comes from a loopback address.
type memoryConn struct {
	net.Conn
	addr net.Addr
}

// RemoteAddr implements net.Conn.
func (c memoryConn) RemoteAddr() net.Addr { return c.addr }

// LocalAddr implements net.Conn.
func (c memoryConn) LocalAddr() net.Addr { return c.addr }
