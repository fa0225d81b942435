package authn

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Stands implements resources.Standing: of a service, who is whom its token names.
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

// signedIn is a user with a token: it has to hold, and the user to be found as they were.
type signedIn struct {
	token *verified
	user  resources.Standing
}

// Stands implements resources.Standing.
func (s *signedIn) Stands(now time.Time) bool { return s.token.Stands(now) && s.user.Stands(now) }

// standing is that of the principal whom a token's claims named.
func (v *verified) standing(p resources.Principal) resources.Standing {
	switch {
	case p.Kind == resources.PrincipalService:
		return v
	case p.Standing == nil:
		return nil
	}
	return &signedIn{v, p.Standing}
}
