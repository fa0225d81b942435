package gateway

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources/gate"
)

// lifetime is a request's context. It ends with the request or at its deadline. Its timer and its
// channel are made when somebody first waits: nobody does while a request is answered from caches.
// context.WithDeadline would take four of the ten allocations that a warm request may have beside the framework's.
type lifetime struct {
	parent   context.Context
	deadline time.Time

	mu    sync.Mutex
	ended bool
	// account is the account for turns at gates, "" while unknown.
	account string
	waited  context.Context // nil until somebody waits
	cancel  context.CancelFunc
}

// Deadline implements context.Context.
func (l *lifetime) Deadline() (time.Time, bool) { return l.deadline, true }

// Done implements context.Context.
func (l *lifetime) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waited == nil {
		l.waited, l.cancel = context.WithDeadline(l.parent, l.deadline)
		if l.ended {
			l.cancel()
		}
	}
	return l.waited.Done()
}

// Err implements context.Context.
func (l *lifetime) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.waited != nil:
		return l.waited.Err()
	case l.ended:
		return context.Canceled
	case !time.Now().Before(l.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. A context made of this one finds the standard one
// here once it waits, and ends with it without a goroutine of its own.
func (l *lifetime) Value(key any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == any(gate.AccountKey{}) && l.account != "" {
		return l.account
	}
	if l.waited != nil {
		return l.waited.Value(key)
	}
	return l.parent.Value(key)
}

// useTurnsOf makes the request wait at gates in the turns of an account, unless it has an account already.
func (l *lifetime) useTurnsOf(account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account = cmp.Or(l.account, account)
}

// end ends it with the request.
func (l *lifetime) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.cancel != nil {
		l.cancel()
	}
}
