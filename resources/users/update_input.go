package users

import (
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// update is what user.update asks for.
type update struct {
	user     string // of the path
	problems wire.Problems
	fields   fields
	status   string
	// restricted are the fields of the body that only the service that syncs users may change.
	restricted []string
	// id and account are the body's, which must be the user's; "" is not said.
	id, account string
}

// readUpdate reads user.update's request: 400 with all problems, unless one more may be found
// when the user is known.
func (s *Service) readUpdate(r *wire.Request) (*update, error) {
	in := &update{user: r.Params["user_id"]}
	p := &in.problems
	named := r.AccountID != "" || syncs(r.Principal) // else there is no account to look for the user in
	if !named {
		p.Add("x-account-id", "is missing; it names the account of which the user is a member")
	}
	r.ParseQuery(p).Done()
	body := r.ParseObject(p)
	in.fields = s.readFields(body)
	// INVITED comes from an invitation, with a mail and a time.
	in.status = body.OneOf("status", "", resources.StatusActive, resources.StatusInactive,
		resources.StatusSuspended, statusWaitlisted, statusPending)
	identity := []string{"email", "is_verified", "authentication_type", "authentication_partner", "authentication_partner_id"}
	for _, name := range identity {
		if body.Has(name) {
			in.restricted = append(in.restricted, name)
		}
	}
	in.id, _ = body.Text("id")
	in.account, _ = body.Text("account_id")
	for _, readOnly := range []string{"external_id", "created_at", "updated_at"} {
		body.Has(readOnly)
	}
	body.Done()
	if in.id == in.user {
		in.id = ""
	}
	if named && (in.id != "" || in.account != "") {
		return in, nil
	}
	return in, p.Err()
}

// against holds the body's id and account to the user in the path (nil for none): 400
// with all problems.
func (in *update) against(rec *userRow) error {
	p := in.problems
	if in.id != "" && (rec == nil || in.id != rec.Value.UUID && in.id != rec.Value.ExternalID) {
		p.Add("id", "is not the user in the path")
	}
	if in.account != "" && rec != nil && in.account != rec.Value.AccountID {
		p.Add("account_id", "is not the user's account, and can't be changed here")
	}
	return p.Err()
}

// identity says whether the change touches what must be unique among all users.
func (in *update) identity() bool { return in.fields.email != nil || in.fields.partnerID != nil }

// beyond names the fields that a caller may not change: one with the action for others,
// one without it (for themselves) the status too.
func (in *update) beyond(manages bool) string {
	out := in.restricted
	if !manages && in.status != "" {
		out = append([]string{"status"}, out...)
	}
	return strings.Join(out, ", ")
}
