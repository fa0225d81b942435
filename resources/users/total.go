package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/store"
)

// maxTotals limits the cached totals.
const maxTotals = 1024

// membership is a state of an account's members. Adding or removing a member bumps the account's revision. Restoring a
// backup resets revisions and changes the generation.
type membership struct {
	generation, account string
	revision            int64
}

// membershipOf returns the account's state without its revision. The generation is "" if the store does not answer.
func (s *Service) membershipOf(ctx context.Context, account string) membership {
	freshness, err := s.Store.Freshness(ctx)
	if err != nil {
		return membership{account: account}
	}
	return membership{generation: freshness.Generation, account: account}
}

// total returns the number of the account's members. The embedded store counts them one by one, 100,000 in 15 ms.
func (s *Service) total(ctx context.Context, tx store.Tx, state membership, members store.Query) (int, error) {
	if cached := s.totals.Get(state); cached != nil {
		return *cached, nil
	}
	return s.c.Users.Count(ctx, tx, members)
}

// keepTotal caches the total after the view that read it has succeeded.
func (s *Service) keepTotal(state membership, total int) {
	if state.generation != "" {
		s.totals.Put(state, total)
	}
}
