package users

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// update is the request of user.update. The transaction adds the problems that only the data tells.
type update struct {
	user     string // the id in the path
	problems wire.Problems
	fields   fields
	status   string
	// restricted are the fields of the body for the service that syncs users alone.
	restricted []string
	// id and account are those of the body, which must be the user's; "" is none.
	id, account string
}

// readUpdate reads the request of user.update; 400 with all problems. It leaves the refusal to
// checkUser where the data may tell one more problem.
func (s *Service) readUpdate(r *wire.Request) (*update, error) {
	u := &update{user: r.Params["user_id"]}
	p := &u.problems
	named := r.AccountID != "" || syncs(r.Principal) // whether it is known where to look for the user
	if !named {
		p.Add("x-account-id", "is missing; it names the account of which the user is a member")
	}
	r.ParseQuery(p).Done()
	body := r.ParseObject(p)
	u.fields = s.readFields(body)
	u.status = body.OneOf("status", "", resources.UserStatuses()...)
	identity := []string{"email", "is_verified", "authentication_type", "authentication_partner", "authentication_partner_id"}
	for _, name := range identity {
		if body.Has(name) {
			u.restricted = append(u.restricted, name)
		}
	}
	u.id, _ = body.Text("id")
	u.account, _ = body.Text("account_id")
	for _, readOnly := range []string{"external_id", "created_at", "updated_at"} {
		body.Has(readOnly)
	}
	body.Done()
	if u.id == u.user {
		u.id = ""
	}
	if named && (u.id != "" || u.account != "") {
		return u, nil
	}
	return u, p.Err()
}

// checkUser compares the id and the account of the body with the user in the path, nil for none;
// 400 with all problems.
func (u *update) checkUser(rec *userRow) error {
	p := u.problems
	if u.id != "" && (rec == nil || u.id != rec.Value.UUID && u.id != rec.Value.ExternalID) {
		p.Add("id", "is not the user in the path")
	}
	if u.account != "" && rec != nil && u.account != rec.Value.AccountID {
		p.Add("account_id", "is not the user's account, and can't be changed here")
	}
	return p.Err()
}

// changesUnique says whether the request changes a field that must be unique among all users.
func (u *update) changesUnique() bool { return u.fields.email != nil || u.fields.partnerID != nil }

// forbiddenFields returns the fields of the request that the caller may not change, "" for none.
// The status is one of them for callers who may not update other users.
func (u *update) forbiddenFields(mayUpdateOthers bool) string {
	out := u.restricted
	if !mayUpdateOthers && u.status != "" {
		out = append([]string{"status"}, out...)
	}
	return strings.Join(out, ", ")
}
