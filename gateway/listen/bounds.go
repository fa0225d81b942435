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

// rejections is how many refused connections are told why at once; further ones are closed
// without an answer.
const rejections = 64

// Bounds count the open connections, in all and of each address.
type Bounds struct {
	total, perAddress int
	ids               resources.IDs
	log               *throttledLog
	rejecting         chan struct{}
	draining          atomic.Bool

	refusedInAll, refusedOfAddress atomic.Uint64

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int
}

// NewBounds allows so many open connections in all and from one address (IPv6: one /64); 0 is no bound.
func NewBounds(total, perAddress int, ids resources.IDs, log *slog.Logger) *Bounds {
	return &Bounds{
		total: total, perAddress: perAddress, ids: ids, log: &throttledLog{log: log},
		rejecting: make(chan struct{}, rejections), from: map[netip.Prefix]int{},
	}
}

// Drain says that the server is being shut down: a request that was read is answered before its
// connection is closed.
func (b *Bounds) Drain() { b.draining.Store(true) }

// Open is how many connections are open now; Refused how many were refused until now, for the
// bound of all and for that of one address.
func (b *Bounds) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// Refused is how many connections were refused until now, for each of the two bounds.
func (b *Bounds) Refused() (inAll, ofAddress uint64) {
	return b.refusedInAll.Load(), b.refusedOfAddress.Load()
}

// PeerOf is where a connection comes from, by its socket alone: an IPv4 address, or a /64 of IPv6,
// which is what one customer has.
func PeerOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr, bits := tcp.AddrPort().Addr().Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	peer, _ := addr.Prefix(bits) // fails for no address at all, which is a peer like any other
	return peer
}

// enter counts a connection, or refuses and closes it.
func (b *Bounds) enter(c net.Conn, peer netip.Prefix) bool {
	b.mu.Lock()
	inAll := b.total > 0 && b.open >= b.total
	ofAddress := !inAll && b.perAddress > 0 && b.from[peer] >= b.perAddress
	if !inAll && !ofAddress {
		b.open++
		b.from[peer]++
	}
	b.mu.Unlock()
	switch {
	case inAll:
		b.refusedInAll.Add(1)
		b.log.warn("connections are refused: as many as --max-connections are open", "open", b.total)
		b.refuse(c, &resources.Error{Kind: resources.KindUnavailable, Message: "There are too many connections now; try again."})
	case ofAddress:
		b.refusedOfAddress.Add(1)
		b.log.warn("connections are refused: as many as --max-connections-per-address are open from one address", "address", peer.String(), "open", b.perAddress)
		b.refuse(c, &resources.Error{Kind: resources.KindRateLimited, Message: "There are too many connections from this address."})
	}
	return !inAll && !ofAddress
}

func (b *Bounds) leave(peer netip.Prefix) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	if b.from[peer]--; b.from[peer] == 0 {
		delete(b.from, peer)
	}
}

// refuse tells the peer why, where few are told at this moment, and closes.
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
			_, _ = io.WriteString(c, text) // a peer that is gone needs no answer
		}
		lingerOn(c)
		_ = c.Close()
	}()
}
