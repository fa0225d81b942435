package authn

import (
	"context"
	"time"
)

// Stands implements resources.Standing: the token holds. Whose its subject is and whether
// they may sign in is another matter (resources.Principal, FoundIn).
func (v *verified) Stands(now time.Time) bool {
	stands, err := v.holds(gone, now)
	return stands && err == nil
}

// gone is the context of somebody who waits for nothing.
var gone = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
