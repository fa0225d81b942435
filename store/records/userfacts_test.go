package records_test

import (
	"context"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// TestUsersWhoGoMeanwhileAreLeftOut: between the list of users and their facts, one is deleted, one moves to another
// account, and one who was of no account becomes a member. None of them is handed over with facts that nobody has.
func TestUsersWhoGoMeanwhileAreLeftOut(t *testing.T) {
	const carol, dave = "user-carol-v1", "user-dave-v1"
	w := newWorld(t)
	w.write(func(ctx context.Context, tx store.Tx) error {
		bob, err := w.c.Users.Get(ctx, tx, bob)
		if err != nil {
			return err
		}
		for _, id := range []string{carol, dave} {
			user := bob.Value
			user.ExternalID, user.UUID, user.Email = id, "uuid-"+id, id+"@example.com"
			if id == dave {
				user.AccountID = ""
			}
			if err := w.c.Users.Insert(ctx, tx, user); err != nil {
				return err
			}
		}
		return nil
	})
	gone := false
	leave := func(string) (bool, error) {
		if gone {
			return true, nil
		}
		gone = true
		return true, w.try(func(ctx context.Context, tx store.Tx) error {
			for id, target := range map[string]string{bob: "deleted", carol: "acct-b-v1", dave: account} {
				rec, err := w.c.Users.Get(ctx, tx, id)
				if err != nil {
					return err
				}
				if rec.Value.AccountID = target; target == "deleted" {
					err = w.c.Users.Delete(ctx, tx, rec)
				} else {
					err = w.c.Users.Replace(ctx, tx, rec)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	var lines []string
	err := w.c.EveryUser(t.Context(), w.db, leave, func(userFacts records.UserFacts) error {
		lines = append(lines, userFacts.Subject.UserID)
		return nil
	})
	if err != nil || !slices.Equal(lines, []string{alice}) {
		t.Errorf("%v %v", lines, err)
	}
}
