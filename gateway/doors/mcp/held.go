package mcp

import (
	"cmp"
	"errors"
	"io"
	"sync"

	"github.com/portcullis-authz/portcullis/resources"
)

// The limits of what the door holds of callers' messages and of servers' responses, in bytes: of all callers, and of one
// account. The memory is about three times as much.
const (
	mostHeld          = 256 << 20
	mostHeldOfAccount = mostHeld / 4
)

var errHeld = errors.New("mcp: the gateway holds too much of messages and responses")

// held counts the bytes that the door holds. The zero value holds none.
type held struct {
	mu        sync.Mutex
	all       int64
	byAccount map[string]int64
}

// take counts bytes of an account. On an error it does not.
func (h *held) take(account string, n int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all+n > mostHeld || h.byAccount[account]+n > mostHeldOfAccount {
		return errHeld
	}
	if h.byAccount == nil {
		h.byAccount = map[string]int64{}
	}
	h.all += n
	h.byAccount[account] += n
	return nil
}

// leave gives bytes of an account back.
func (h *held) leave(account string, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all -= n
	if h.byAccount[account] -= n; h.byAccount[account] == 0 {
		delete(h.byAccount, account)
	}
}

// heldBody counts the bytes of a response until drop. Close may come beside a Read.
type heldBody struct {
	io.ReadCloser
	held    *held
	account string

	mu     sync.Mutex
	n      int64
	closed bool
}

// holder returns whose bytes are counted.
func (v *visit) holder() string { return cmp.Or(v.call.Caller.AccountID, v.call.Caller.ID) }

// holds returns a response's body whose bytes count.
func (v *visit) holds(body io.ReadCloser) *heldBody {
	return &heldBody{ReadCloser: body, held: &v.held, account: v.holder()}
}

// holdMessage counts the client's message until release. The error is of KindUnavailable.
func (v *visit) holdMessage() (release func(), err error) {
	account, n := v.holder(), int64(len(v.call.Body))
	if err := v.held.take(account, n); err != nil {
		return nil, resources.Unavailable("There is too much to do now; try again.", err)
	}
	return sync.OnceFunc(func() { v.held.leave(account, n) }), nil
}

// Read implements io.Reader.
func (b *heldBody) Read(room []byte) (int, error) {
	n, err := b.ReadCloser.Read(room)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n == 0 || b.closed {
		return n, err
	}
	if failed := b.held.take(b.account, int64(n)); failed != nil {
		b.giveUp() // at once, for those who read at the same time
		return 0, failed
	}
	b.n += int64(n)
	return n, err
}

// drop gives the bytes back that were read: nobody holds them any more.
func (b *heldBody) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveBack()
}

func (b *heldBody) giveBack() {
	if b.n > 0 {
		b.held.leave(b.account, b.n)
		b.n = 0
	}
}

// giveUp gives the bytes back and counts no more. b.mu is held.
func (b *heldBody) giveUp() {
	b.closed = true
	b.giveBack()
}

// Close implements io.Closer.
func (b *heldBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveUp()
	return err
}
