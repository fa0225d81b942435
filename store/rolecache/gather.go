package rolecache

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxGatherings bounds how often the facts of several are gathered until all are of one revision.
const maxGatherings = 4

// maxTogether is how many users one view reads. A view holds a reader of the store.
const maxTogether = 64

// errMoving is the error of an account that moves faster than the facts of several can be gathered.
var errMoving = errors.New("rolecache: the account has moved during each of several reads")

// FactsOf puts the facts of several users and projects of the account into a list of the same length. All are of one
// revision, with every change answered before the call. If the account moves meanwhile, older facts are read again. No
// name of a user or a project is kept.
func (c *Cache) FactsOf(ctx context.Context, account string, pairs []resources.About, facts []resources.Facts) error {
	if err := c.catchUp(ctx); err != nil {
		return err
	}
	generation, revision, err := c.revision(ctx, account)
	if err != nil {
		return err
	}
	clear(facts)
	for round := range maxGatherings {
		newest, err := c.gather(ctx, key{generation: generation, account: account, revision: revision}, pairs, facts, round < maxGatherings-1)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(facts, func(f resources.Facts) bool { return f.Revision != newest }) {
			return nil
		}
		revision = newest
	}
	return errMoving
}

// gather sets the facts not yet of the key's revision, and returns the newest revision among all. With share, few are
// read together with other callers. Without it, everything is read anew, few of them at once.
func (c *Cache) gather(ctx context.Context, k key, pairs []resources.About, all []resources.Facts, share bool) (newest int64, err error) {
	newest = k.revision
	var missing []int
	read := func() error {
		if err := c.fillAt(ctx, k, pairs, all, missing, share); err != nil {
			return err
		}
		for _, i := range missing {
			newest = max(newest, all[i].Revision)
		}
		missing = missing[:0]
		return nil
	}
	for i, pair := range pairs {
		if all[i].Subject != nil && all[i].Revision == k.revision {
			continue
		}
		if facts, ok := c.cached(k.named(pair.UserID), &pair); ok && share {
			all[i] = facts
			continue
		}
		if missing = append(missing, i); len(missing) == maxTogether { // the others may share what these need
			if err := read(); err != nil {
				return 0, err
			}
		}
	}
	err = read()
	return newest, err
}

// fillAt fills the facts at those places. Those of a single question, the asker's and the subject's, may be missing
// elsewhere at the same time: it shares these reads.
func (c *Cache) fillAt(ctx context.Context, k key, pairs []resources.About, all []resources.Facts, places []int, share bool) (err error) {
	if len(places) == 0 || share && len(places) <= 2 {
		for _, i := range places {
			pair := owned(pairs[i])
			if all[i], err = c.fill(ctx, k.named(pair.UserID), pair); err != nil {
				return err
			}
		}
		return nil
	}
	abouts := make([]resources.About, len(places))
	for j, i := range places {
		abouts[j] = owned(pairs[i])
	}
	facts, err := c.fillSeveral(ctx, k, abouts)
	if err != nil {
		return err
	}
	for j, i := range places {
		all[i] = facts[j]
	}
	return nil
}

// owned returns a copy whose names the cache may keep: a name can be a part of a long text.
func owned(pair resources.About) resources.About {
	agent := resources.AgentRef{
		ID:     strings.Clone(pair.Agent.ID),
		Client: resources.AgentClient{Issuer: strings.Clone(pair.Agent.Client.Issuer), ClientID: strings.Clone(pair.Agent.Client.ClientID)},
	}
	return resources.About{UserID: strings.Clone(pair.UserID), ProjectID: strings.Clone(pair.ProjectID), Agent: agent}
}

// fillSeveral is fill for several misses, without waiting for those of others.
func (c *Cache) fillSeveral(ctx context.Context, k key, pairs []resources.About) ([]resources.Facts, error) {
	if c.remote == nil {
		return c.load(ctx, k, pairs...)
	}
	out := c.remote.facts(ctx, k, pairs...)
	var missing []int
	for i, pair := range pairs {
		if out[i].Subject == nil || pair.Agent.Named() { // the second level has no facts about agents
			missing = append(missing, i)
		} else {
			c.put(k.named(pair.UserID), pair.ProjectID, out[i])
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	abouts := make([]resources.About, len(missing))
	for j, i := range missing {
		abouts[j] = pairs[i]
	}
	loaded, err := c.load(ctx, k, abouts...)
	if err != nil {
		return nil, err
	}
	for j, i := range missing {
		out[i] = loaded[j]
	}
	return out, nil
}
