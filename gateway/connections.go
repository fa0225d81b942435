package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

const (
	// farewells are how many connections are told at once why they are refused; the others
	// are closed without a word.
	farewells = 64
	// shortWait and longWait are between two tries to accept where there are no files left.
	shortWait = 5 * time.Millisecond
	longWait  = time.Second
)

// connections counts those that are open, in all and from each address.
type connections struct {
	most, perAddress int
	ids              resources.IDs
	seldom           *seldom
	farewell         chan struct{}
	refused          [2]atomic.Uint64 // by most, by perAddress
	// turns are of those who were not answered yet or who leave, doors of those who are accepted.
	turns, doors *gate.Gate

	mu   sync.Mutex
	open int
	from map[netip.Prefix]int
}

func newConnections(most, perAddress int, ids resources.IDs, log *slog.Logger) *connections {
	return &connections{
		most: most, perAddress: perAddress, ids: ids, seldom: &seldom{log: log},
		farewell: make(chan struct{}, farewells), from: map[netip.Prefix]int{},
		turns: gate.GivingWay(1, math.MaxInt), doors: gate.GivingWay(1, math.MaxInt),
	}
}

// peerOf is from where a connection comes, by its socket alone: an IPv4 address, or a /64
// of IPv6, which is what one customer has.
func peerOf(a net.Addr) netip.Prefix {
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

// enter counts a connection; one that is too much is refused and closed.
func (c *connections) enter(with net.Conn, peer netip.Prefix) bool {
	c.mu.Lock()
	total := c.most > 0 && c.open >= c.most
	address := !total && c.perAddress > 0 && c.from[peer] >= c.perAddress
	if !total && !address {
		c.open++
		c.from[peer]++
	}
	c.mu.Unlock()
	switch {
	case total:
		c.refused[0].Add(1)
		c.seldom.warn("connections are refused: as many as --max-connections are open", "open", c.most)
		c.refuse(with, &resources.Error{Kind: resources.KindUnavailable, Message: "There are too many connections now; try again."})
	case address:
		c.refused[1].Add(1)
		c.seldom.warn("connections are refused: as many as --max-connections-per-address are open from one address", "address", peer.String(), "open", c.perAddress)
		c.refuse(with, &resources.Error{Kind: resources.KindRateLimited, Message: "There are too many connections from this address."})
	}
	return !total && !address
}

func (c *connections) leave(peer netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.from[peer]--; c.from[peer] == 0 {
		delete(c.from, peer)
	}
}

// giveWay has who was not answered yet, and who leaves, let those go first who were: one at a time
// for each part of a request that comes on a connection, its answer and its end; and one at a time
// who is accepted, so that this waits for nobody else's turn.
func giveWay(turns *gate.Gate) {
	if turns.Enter(context.Background()) == nil {
		turns.Leave()
	}
}

// refuse says why, where few are told at this moment, and closes.
func (c *connections) refuse(with net.Conn, why *resources.Error) {
	select {
	case c.farewell <- struct{}{}:
	default:
		_ = with.Close() // there is nobody to tell
		return
	}
	go func() {
		defer func() { <-c.farewell }()
		status, body := wire.Status(why.Kind), wire.ErrorBody("", why)
		text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
			"Retry-After: %s\r\nX-Request-ID: %s\r\nConnection: close\r\n\r\n%s",
			status, http.StatusText(status), len(body), retryAfter(why.RetryAfter), c.ids.ULID(), body)
		if with.SetDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.WriteString(with, text) // a peer that is gone needs no answer
		}
		lingerOn(with)
		_ = with.Close() // nor an end
	}()
}

// outOfFiles says whether accepting failed for want of something that comes back.
func outOfFiles(err error) bool {
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// seldomTime is between two lines of the log about the same flood.
const seldomTime = 10 * time.Second

// seldom tells of a flood without being one.
type seldom struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
	kept int
}

// warn writes a line, unless one was written a short while ago; it says how many were not.
func (s *seldom) warn(text string, fields ...any) {
	s.mu.Lock()
	now := time.Now()
	if !s.last.IsZero() && now.Sub(s.last) < seldomTime {
		s.kept++
		s.mu.Unlock()
		return
	}
	kept := s.kept
	s.last, s.kept = now, 0
	s.mu.Unlock()
	s.log.Warn(text, append(fields, "not_told_since", kept)...)
}

// Connections are how many are open now, and how many were refused until now: for all
// that may be open, and for those from one address.
func (e *Edge) Connections() (open int, refused, refusedOfAddress uint64) {
	e.open.mu.Lock()
	defer e.open.mu.Unlock()
	return e.open.open, e.open.refused[0].Load(), e.open.refused[1].Load()
}
