package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
)

// undecided keeps a request that nobody decides.
type undecided struct {
	Approvals
	err error
}

func (u undecided) Pending(context.Context, string, string, string) (bool, error) {
	return u.err == nil, u.err
}

// TestTheWaitForADecisionEnds guarantees that it ends without a decision, with the call, and if the store is down. It counts as a
// held message meanwhile, and no second call waits beside it.
func TestTheWaitForADecisionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		life  time.Duration
		err   error
		takes time.Duration
		fails bool
	}{
		"no decision": {time.Hour, nil, approvalWait, false}, "the call": {3 * time.Second, nil, 3 * time.Second, true}, "the store": {time.Hour, errors.New("down"), 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := &visit{Door: &Door{Approvals: undecided{err: c.err}}, call: doors.Call{Caller: &resources.Principal{ID: "u", AccountID: "a"}, Body: []byte("body")}}
			ctx, cancel := context.WithTimeout(t.Context(), c.life)
			defer cancel()
			began, held := time.Now(), int64(0)
			time.AfterFunc(time.Second, func() {
				v.held.mu.Lock()
				held = v.held.all
				v.held.mu.Unlock()
				if err := v.await(ctx, "approval-v1"); c.takes > 0 && (err != nil || time.Since(began) != time.Second) {
					t.Errorf("%s: a second call waited until %s: %v", name, time.Since(began), err)
				}
			})
			if err := v.await(ctx, "approval-v1"); (err != nil) != c.fails || time.Since(began) != c.takes {
				t.Errorf("%s: %v after %s", name, err, time.Since(began))
			}
			if _, awaited := v.awaited.Load("approval-v1"); awaited {
				t.Errorf("%s: the request is awaited for ever", name)
			}
			if c.takes > 0 && held != 4 || v.held.all != 0 {
				t.Errorf("%s: %d bytes were held, %d are", name, held, v.held.all)
			}
		})
	}
}
