package rolecache

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxGatherings bounds how often the facts of several are gathered until all are of one revision.
const maxGatherings = 4

// errMoving is the error of an account that moves faster than the facts of several can be gathered.
var errMoving = errors.New("rolecache: the account has moved during each of several reads")

// FactsOf returns the facts of several users and projects of the account, in their order. All are of
// one revision, which includes every change that was answered before the call. Where the account
// moves meanwhile, what is older is read again.
func (c *Cache) FactsOf(ctx context.Context, account string, of []resources.About) ([]resources.Facts, error) {
	if err := c.catchUp(ctx); err != nil {
		return nil, err
	}
	generation, revision, err := c.revision(ctx, account)
	if err != nil {
		return nil, err
	}
	all := make([]resources.Facts, len(of))
	for range maxGatherings {
		newest := revision
		for i, about := range of {
			if all[i].Subject != nil && all[i].Revision == revision {
				continue
			}
			k := key{generation, account, revision, about.UserID}
			facts, ok := c.cached(k, about.ProjectID)
			if !ok {
				if facts, err = c.fill(ctx, k, about.ProjectID); err != nil {
					return nil, err
				}
			}
			all[i], newest = facts, max(newest, facts.Revision)
		}
		if newest == revision {
			return all, nil
		}
		revision = newest
	}
	return nil, errMoving
}

// Home returns the account of which the user is a member, "" where there is no such user. On an error
// that is not known.
func (c *Cache) Home(ctx context.Context, user string) (account string, err error) {
	id, _, err := c.Identify(ctx, user, true, false)
	return id.AccountID, err
}
