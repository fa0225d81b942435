package verdict

import (
	"context"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Gathered returns a judge with the facts of the account for these questions, as read now, and their revision. It is
// for a snapshot that ends before policy is asked: nobody holds one while they wait for policy. The error is of
// KindUnavailable.
func (j *Judge) Gathered(
	ctx context.Context, facts FactSource, caller *resources.Principal, door *route.Row, account string, questions []resources.Question,
) (_ *Judge, revision int64, err error) {
	out := *j
	out.Facts = facts
	a := asking{Judge: &out, caller: caller, door: door}
	acct := a.accountOf(account)
	for i := range questions {
		if questions[i].AccountID == account {
			a.need(&questions[i])
		}
	}
	if err := a.gather(ctx, acct); err != nil {
		return nil, 0, err
	}
	out.Facts = &gathered{facts, *acct}
	return &out, acct.facts[0].Revision, nil
}

// gathered are facts of one account that were read before; those of other accounts are read now.
type gathered struct {
	FactSource
	account account
}

// FactsOf implements FactSource.
func (g *gathered) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	if account != g.account.id {
		return g.FactSource.FactsOf(ctx, account, pairs, facts)
	}
	for i, pair := range pairs {
		place := g.account.place(pair)
		if place < 0 {
			return unavailable(errNotGathered)
		}
		facts[i] = g.account.facts[place]
	}
	return nil
}
