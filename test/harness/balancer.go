package harness

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// replicaCount is how many processes a gateway is, where it is replicas.
const replicaCount = 3

// launchReplicas runs several `portcullis serve` on one store and one Redis, and waits until
// all are ready. Its addresses are those of balancers in front of them.
func launchReplicas(t testing.TB, dataDir string, args ...string) *Gateway {
	t.Helper()
	args = append([]string{"--redis-url", servers.Redis(t).URL}, args...)
	g := &Gateway{DataDir: dataDir, Stdout: &Buffer{}, Stderr: &Buffer{}}
	for range replicaCount { // all at once, as an orchestrator would
		g.replicas = append(g.replicas, begin(t, dataDir, &Buffer{all: g.Stdout}, &Buffer{all: g.Stderr}, args...))
	}
	var edges, users, health []string
	for _, p := range g.replicas {
		p.Await(t, args...)
		edges, users, health = append(edges, p.URL), append(users, p.UsersURL), append(health, p.HealthURL)
	}
	g.URL, g.UsersURL, g.HealthURL = balance(t, edges), balance(t, users), balance(t, health)
	g.listening(args...)
	return g
}

// balancer is an address with several behind it. Each connection goes to the next one, or
// past those that take none; so requests on connections of their own go round.
type balancer struct {
	listener net.Listener
	behind   []string
	next     int
}

// balance serves a new address in front of these until the test ends.
func balance(t testing.TB, urls []string) (url string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	b := &balancer{listener: l}
	scheme := ""
	for _, url := range urls {
		var place string
		scheme, place, _ = strings.Cut(url, "://")
		b.behind = append(b.behind, place)
	}
	go b.run()
	return scheme + "://" + l.Addr().String()
}

func (b *balancer) run() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return
		}
		server := b.dial()
		if server == nil { // like a gateway that has ended, it listens no more
			_ = b.listener.Close()
			_ = client.Close()
			return
		}
		go pass(client.(*net.TCPConn), server.(*net.TCPConn))
	}
}

// dial gives a connection to the next one that takes it, or nil.
func (b *balancer) dial() net.Conn {
	for range b.behind {
		b.next = (b.next + 1) % len(b.behind)
		if c, err := net.Dial("tcp", b.behind[b.next]); err == nil {
			return c
		}
	}
	return nil
}

// patience is how long a client has to notice that the server wants no more of it.
const patience = 2 * time.Second

// pass passes bytes on, both ways, until the server ends the connection. It passes the end of the
// client's bytes on, too. It reads a client that is still sending then: otherwise the client would
// be reset before it has read the answer.
func pass(client, server *net.TCPConn) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(server, client)
		_ = server.CloseWrite()
		_, _ = io.Copy(io.Discard, client)
	}()
	_, _ = io.Copy(client, server)
	_ = client.CloseWrite()
	_ = client.SetReadDeadline(time.Now().Add(patience))
	<-sent
	_ = client.Close()
	_ = server.Close()
}
