package users

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// maxPage is the largest page of user.list, and the default.
const maxPage = 100

// userList is the response of user.list.
type userList struct {
	Users         []listedUser `json:"users"`
	Total         int          `json:"total"`
	Message       string       `json:"message"`
	NextPageToken string       `json:"next_page_token"`
}

// listUsers answers user.list (E12): the members of the account, in the order in which they joined.
func (s *Service) listUsers(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["account_id"]
	binding := "user.list|" + account
	var p wire.Problems
	query := r.ParseQuery(&p)
	size := query.Int("page_size", maxPage, 1, maxPage)
	members := store.Query{Index: records.ByAccount, Equal: []store.Value{store.String(account)}, Limit: size + 1}
	if raw := query.PageToken(s.Tokens, binding); raw != nil {
		var err error
		if members.After, err = store.ParseCursor(raw); err != nil {
			p.Add("page_token", wire.PageTokenRule)
		}
	}
	query.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var found []userRow
	out := userList{Message: "The users of the account."}
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.Total, err = s.c.Users.Count(ctx, tx, members); err != nil {
			return err
		}
		found, err = s.c.Users.Find(ctx, tx, members)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if len(found) > size { // one more record tells that there is a next page
		found = found[:size]
		out.NextPageToken = s.Tokens.Seal(s.c.Users.CursorAt(members, found[size-1].Value).Marshal(), binding)
	}
	out.Users = make([]listedUser, len(found))
	for i, rec := range found {
		out.Users[i] = listedOf(rec.Value)
	}
	return wire.OK(out)
}
