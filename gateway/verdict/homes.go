package verdict

import (
	"context"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Homes returns the users' accounts by user, "" for an unknown one. The answer gives accounts away. So a service gets
// only those of users it may ask about, and a user gets nobody else's. Users know their own account. The error is of
// KindUnavailable.
func (j *Judge) Homes(ctx context.Context, caller *resources.Principal, door *route.Row, users []string) (map[string]string, error) {
	homes := make(map[string]string, 1+len(users))
	for _, user := range users {
		homes[user] = ""
	}
	if caller.Kind == resources.PrincipalUser {
		homes[caller.ID] = caller.AccountID
	}
	if caller.Kind != resources.PrincipalService {
		return homes, nil
	}
	tree, sought := j.Pin(), make([]string, 0, len(users))
	byUser := tree.AccessByUser(caller.Kind)
	may := false
	for i, user := range users {
		if i == 0 || byUser {
			q := rightToAsk(door, "", user)
			if !byUser {
				q.Target.UserID = ""
			}
			q.Facts.Subject, q.Now = &resources.Subject{}, resources.At(j.Now()) // where no account is in question
			o, _ := enter(ctx, tree, caller, door, q)
			if o.Err != nil {
				return nil, o.Err
			}
			may = o.Allowed
		}
		if may {
			sought = append(sought, strings.Clone(user)) // caches keep it
		}
	}
	if len(sought) == 0 {
		return homes, nil
	}
	accounts, err := j.Facts.Homes(ctx, sought)
	if err == nil && len(accounts) != len(sought) {
		err = fmt.Errorf("verdict: %d homes where %d were asked for", len(accounts), len(sought))
	}
	if err != nil {
		return nil, unavailable(err)
	}
	for i, account := range accounts {
		homes[sought[i]] = account
	}
	return homes, nil
}
