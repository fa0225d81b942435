package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// UserFacts are the facts about a user in the user's account, "" for none.
type UserFacts struct {
	Subject *resources.Subject
	// Projects are the states of the projects of the user's roles, by their ids.
	Projects map[string]string
}

// everyonePage is how many users are read on one snapshot. A snapshot of a shared server must not be long.
const everyonePage = 200

// EveryUser hands the facts about each user of the store to fn, in the order of their ids. Each page is read on a
// snapshot of its own: a user who comes or goes meanwhile may be left out. It reads no users of an account for which
// seen returns false. An error is the store's, of seen or of fn.
func (c Collections) EveryUser(
	ctx context.Context, s store.Store, seen func(account string) (bool, error), fn func(UserFacts) error,
) error {
	for after := ""; ; {
		var users []store.Record[resources.User]
		err := s.View(ctx, func(tx store.Tx) (err error) {
			users, err = c.Users.List(ctx, tx, after, everyonePage)
			return err
		})
		if err != nil || len(users) == 0 {
			return err
		}
		after = users[len(users)-1].Value.ExternalID
		byAccount := map[string][]resources.About{}
		for _, u := range users {
			visible, err := seen(u.Value.AccountID)
			if err != nil {
				return err
			}
			if visible {
				byAccount[u.Value.AccountID] = append(byAccount[u.Value.AccountID], resources.About{UserID: u.Value.ExternalID})
			}
		}
		all, err := c.userFacts(ctx, s, byAccount)
		if err != nil {
			return err
		}
		for _, u := range users {
			if facts, ok := all[u.Value.ExternalID]; ok {
				if err := fn(facts); err != nil {
					return err
				}
			}
		}
	}
}

// userFacts reads the facts about users, by their ids. It leaves out those who have left the account.
func (c Collections) userFacts(ctx context.Context, s store.Store, byAccount map[string][]resources.About) (out map[string]UserFacts, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		out = map[string]UserFacts{}
		for account, pairs := range byAccount {
			shared := ReadOnce()
			facts, err := c.LoadFactsOf(ctx, tx, account, pairs, func(int64) ReadThrough { return shared })
			if err != nil {
				return err
			}
			var held []string
			for _, one := range facts {
				for _, role := range one.Subject.Assignments {
					held = append(held, role.ProjectID)
				}
			}
			states, err := c.ProjectStates(ctx, tx, account, held)
			if err != nil {
				return err
			}
			for _, one := range facts {
				if !one.Subject.UserExists || one.Subject.HomeID != account {
					continue // gone since the users were listed
				}
				projects := map[string]string{}
				for _, held := range one.Subject.Assignments {
					if id := held.ProjectID; id != "" {
						projects[id] = states[id]
					}
				}
				out[one.Subject.UserID] = UserFacts{one.Subject, projects}
			}
		}
		return nil
	})
	return out, err
}
