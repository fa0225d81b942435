package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// recordList is the response of user.find.
type recordList struct {
	Users []userRecord `json:"users"`
}

// findUsers answers user.find (N9): the user with the e-mail address or the external id of the
// query.
func (s *Service) findUsers(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if !syncs(r.Principal) {
		return wire.Response{}, resources.Denied(resources.ReasonNoServiceScope)
	}
	email, external, err := readSearch(r)
	if err != nil {
		return wire.Response{}, err
	}
	var rec *userRow
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		if email != "" {
			rec, err = store.Lookup(s.c.UserByEmail(ctx, tx, email))
			return err
		}
		rec, err = store.Lookup(s.c.Users.Get(ctx, tx, external))
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	out := recordList{Users: []userRecord{}}
	if rec != nil {
		out.Users = append(out.Users, recordOf(rec.Value))
	}
	return wire.OK(out)
}

// readSearch reads the query of user.find, which has either email or external_id.
func readSearch(r *wire.Request) (email, external string, err error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	email, external = q.Text("email"), q.Text("external_id")
	switch {
	case (email == "") == (external == ""):
		p.Add("", "exactly one of the query parameters email and external_id is needed")
	case email != "" && !resources.ValidEmail(email):
		p.Add("email", "%s", resources.EmailRule)
	case external != "":
		q.ID("external_id")
	}
	q.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	return email, external, p.Err()
}
