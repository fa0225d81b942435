package listen

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// rejections is how many refused connections get a response at once; further ones are closed
// without a response.
const rejections = 64

// Bounds counts the open connections, in total and of each address, and refuses those over a bound.
// It is safe for concurrent use.
type Bounds struct {
	total, perAddress int
	ids               resources.IDs
	log, handshakeLog *throttledLog
	rejecting         chan struct{} // has one element for each response that is being sent
	draining          atomic.Bool

	refusedTotal, refusedPerAddress, failedHandshakes atomic.Uint64

	mu        sync.Mutex
	open      int
	byAddress map[netip.Prefix]int
	// unused are the connections on which nothing was sent yet.
	unused map[*Conn]struct{}
}

// NewBounds returns bounds of the open connections in total and from one address (IPv6: one /64). 0 sets no bound.
func NewBounds(total, perAddress int, ids resources.IDs, log *slog.Logger) *Bounds {
	return &Bounds{
		total: total, perAddress: perAddress, ids: ids,
		log: &throttledLog{log: log}, handshakeLog: &throttledLog{log: log},
		rejecting: make(chan struct{}, rejections), byAddress: map[netip.Prefix]int{}, unused: map[*Conn]struct{}{},
	}
}

// Drain begins the shutdown. From now on a connection closes after the response to its request. Without a request it
// closes soon, since the server would wait for one.
func (b *Bounds) Drain() {
	b.draining.Store(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.unused {
		_ = c.SetReadDeadline(time.Now().Add(firstByteTime)) // fails on a closed connection
	}
}

// Open returns how many connections are open.
func (b *Bounds) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// Refused returns how many connections each of the two bounds has refused.
func (b *Bounds) Refused() (total, perAddress uint64) {
	return b.refusedTotal.Load(), b.refusedPerAddress.Load()
}

// PeerOf returns the peer of a connection by its socket alone: an IPv4 address, or a /64 of IPv6,
// which is the range of one customer. It is the zero Prefix for other addresses.
func PeerOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr, bits := tcp.AddrPort().Addr().Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	peer, _ := addr.Prefix(bits) // fails for the zero address, which counts as the zero Prefix
	return peer
}

// enter counts a connection and returns nil, or returns why it is refused.
func (b *Bounds) enter(peer netip.Prefix) *resources.Error {
	b.mu.Lock()
	overTotal := b.total > 0 && b.open >= b.total
	overPeer := !overTotal && b.perAddress > 0 && b.byAddress[peer] >= b.perAddress
	if !overTotal && !overPeer {
		b.open++
		b.byAddress[peer]++
	}
	b.mu.Unlock()
	switch {
	case overTotal:
		b.refusedTotal.Add(1)
		b.log.warn("connections are refused: as many as --max-connections are open", "open", b.total)
		return &resources.Error{Kind: resources.KindUnavailable, Message: "There are too many connections now; try again."}
	case overPeer:
		b.refusedPerAddress.Add(1)
		b.log.warn("connections are refused: as many as --max-connections-per-address are open from one address", "address", peer.String(), "open", b.perAddress)
		return &resources.Error{Kind: resources.KindRateLimited, Message: "There are too many connections from this address."}
	}
	return nil
}

// remember notes a connection on which nothing was sent yet.
func (b *Bounds) remember(c *Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unused[c] = struct{}{}
}

// forget notes that something was sent.
func (b *Bounds) forget(c *Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.unused, c)
}

// leave takes a closed connection off the count.
func (b *Bounds) leave(c *Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.unused, c)
	b.open--
	if b.byAddress[c.peer]--; b.byAddress[c.peer] == 0 {
		delete(b.byAddress, c.peer)
	}
}

// refuse closes a connection, after a response with the reason unless many are being sent.
func (b *Bounds) refuse(c net.Conn, why *resources.Error) {
	select {
	case b.rejecting <- struct{}{}:
	default:
		_ = c.Close()
		return
	}
	go func() {
		defer func() { <-b.rejecting }()
		status, body := wire.Status(why.Kind), wire.ErrorBody("", why)
		text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
			"Retry-After: 1\r\nX-Request-ID: %s\r\nConnection: close\r\n\r\n%s",
			status, http.StatusText(status), len(body), b.ids.ULID(), body)
		if c.SetDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.WriteString(c, text) // fails if the peer has left
		}
		lingerOn(c)
		_ = c.Close()
	}()
}
