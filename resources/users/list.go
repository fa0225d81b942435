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
	members := store.Query{
		Index: records.ByAccount, Equal: []store.Value{store.String(account)}, Limit: query.Int("page_size", maxPage, 1, maxPage),
	}
	query.PageToken(s.Tokens, binding, members.From)
	query.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var userRows []userRow
	var next *store.Cursor
	out := userList{Message: "The users of the account."}
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.Total, err = s.c.Users.Count(ctx, tx, members); err != nil {
			return err
		}
		userRows, next, err = s.c.Users.Page(ctx, tx, members)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if next != nil {
		out.NextPageToken = s.Tokens.Seal(next.Marshal(), binding)
	}
	out.Users = make([]listedUser, len(userRows))
	for i, rec := range userRows {
		out.Users[i] = listedOf(rec.Value)
	}
	return wire.OK(out)
}
