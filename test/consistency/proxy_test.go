package consistency_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// slowProxy forwards between a replica and the database, and delays answers.
type slowProxy struct {
	address string
	hold    atomic.Int64
}

func newSlowProxy(t testing.TB, backend string) *slowProxy {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	p := &slowProxy{address: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			server, err := net.Dial("tcp", backend)
			if err != nil {
				_ = client.Close()
				continue
			}
			go p.pass(client, server, false)
			go p.pass(server, client, true)
		}
	}()
	return p
}

// chunk is a part of an answer with the time of its delivery.
type chunk struct {
	data []byte
	due  time.Time
}

// pass copies until either side ends. It delays each chunk of answers by itself.
func (p *slowProxy) pass(source, target net.Conn, answers bool) {
	chunks := make(chan chunk, 1024)
	go func() {
		defer func() { _ = target.Close() }()
		for c := range chunks {
			time.Sleep(time.Until(c.due))
			if _, err := target.Write(c.data); err != nil {
				_ = source.Close()
			}
		}
	}()
	defer close(chunks)
	for {
		buffer := make([]byte, 64<<10)
		n, err := source.Read(buffer)
		if n > 0 {
			due := time.Now()
			if answers {
				due = due.Add(time.Duration(p.hold.Load()))
			}
			chunks <- chunk{buffer[:n], due}
		}
		if err != nil {
			return
		}
	}
}
