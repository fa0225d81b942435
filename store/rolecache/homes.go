package rolecache

import (
	"context"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/atonce"
	"github.com/portcullis-authz/portcullis/store"
)

// accountsAtOnce is the number of accounts whose facts are read at once to confirm homes.
const accountsAtOnce = 16

// Homes returns the account of each user, "" for an unknown one. An error says nothing about them.
func (c *Cache) Homes(ctx context.Context, users []string) ([]string, error) {
	homes, hinted := make([]string, len(users)), make([]string, len(users))
	for i, user := range users {
		if hint := c.homes.Get(lookup{subject: user, byExternal: true}); hint != nil {
			hinted[i] = hint.account
		}
	}
	if err := c.confirmHomes(ctx, users, hinted, homes); err != nil {
		return nil, err
	}
	var missing []int
	for i := range users {
		if homes[i] == "" {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return homes, nil
	}
	hinted, err := c.findHomes(ctx, users, missing)
	if err != nil {
		return nil, err
	}
	if err := c.confirmHomes(ctx, users, hinted, homes); err != nil {
		return nil, err
	}
	for _, i := range missing {
		if homes[i] != "" {
			c.homes.Put(lookup{subject: users[i], byExternal: true}, userRef{user: users[i], account: homes[i]})
		}
	}
	return homes, nil
}

// confirmHomes sets those homes of the hinted ones that the facts of the current revision confirm.
func (c *Cache) confirmHomes(ctx context.Context, users, hinted, homes []string) error {
	byAccount := map[string][]int{}
	for i, account := range hinted {
		if account != "" {
			byAccount[account] = append(byAccount[account], i)
		}
	}
	return atonce.Each(ctx, slices.Collect(maps.Keys(byAccount)), accountsAtOnce, func(ctx context.Context, account string) error {
		pairs := make([]resources.About, len(byAccount[account]))
		for j, i := range byAccount[account] {
			pairs[j].UserID = users[i]
		}
		facts := make([]resources.Facts, len(pairs))
		if err := c.FactsOf(ctx, account, pairs, facts); err != nil {
			return err
		}
		for j, i := range byAccount[account] {
			if s := facts[j].Subject; s.UserExists && s.HomeID == account {
				homes[i] = account
			}
		}
		return nil
	})
}

// findHomes reads from the store where the users in those places may be found, as find does.
func (c *Cache) findHomes(ctx context.Context, users []string, places []int) ([]string, error) {
	if err := c.catchUp(ctx); err != nil {
		return nil, err
	}
	hinted := make([]string, len(users))
	for some := range slices.Chunk(places, maxTogether) {
		asked := make([]string, len(some))
		for j, i := range some {
			asked[j] = users[i]
		}
		var names []string
		err := c.view(ctx, "", func(tx store.Tx) (err error) {
			names, err = c.records.HomesOf(ctx, tx, asked)
			return err
		})
		if err != nil {
			return nil, err
		}
		for j, i := range some {
			hinted[i] = names[j]
		}
	}
	return hinted, nil
}
