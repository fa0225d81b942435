package verdict

import (
	"context"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/resources"
)

// Gathered returns a judge with the facts of the account for these questions, as read now, and their revision. It is
// for a snapshot that ends before policy is asked: nobody holds one while they wait for policy. The error is of
// KindUnavailable.
func (j *Judge) Gathered(
	ctx context.Context, facts Facts, caller *resources.Principal, door *catalogue.Row, account string, questions []resources.Question,
) (_ *Judge, revision int64, err error) {
	out := *j
	out.Facts = facts
	a := asking{Judge: &out, caller: caller, door: door}
	in := a.within(account)
	for i := range questions {
		if questions[i].AccountID == account {
			a.need(&questions[i])
		}
	}
	if err := a.gather(ctx, in); err != nil {
		return nil, 0, err
	}
	out.Facts = &gathered{facts, *in}
	return &out, in.facts[0].Revision, nil
}

// gathered are facts of one account that were read before.
type gathered struct {
	others
	account account
}

// others are the facts of other accounts.
type others = Facts

// FactsOf implements Facts.
func (g *gathered) FactsOf(ctx context.Context, account string, of []resources.About, into []resources.Facts) error {
	if account != g.account.id {
		return g.others.FactsOf(ctx, account, of, into)
	}
	for i, about := range of {
		place := g.account.place(about)
		if place < 0 {
			return unavailable(errNotGathered)
		}
		into[i] = g.account.facts[place]
	}
	return nil
}
