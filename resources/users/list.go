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

// listUsers answers user.list (E12): the members of the account, in the order in which they joined. With q it returns
// those whose e-mail address, name or external id begins with it, in the order of these fields and of their values.
func (s *Service) listUsers(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["account_id"]
	var p wire.Problems
	query := r.ParseQuery(&p)
	members := store.Query{
		Index: records.ByAccount, Equal: []store.Value{store.String(account)}, Limit: query.Int("page_size", maxPage, 1, maxPage),
	}
	wanted := search{account: account, size: members.Limit, prefix: readSearchText(&p, query)}
	binding, resume := "user.list|"+account, members.From
	if wanted.prefix != "" {
		binding, resume = "user.list|"+account+"|"+wanted.prefix, wanted.resume
	}
	query.PageToken(s.Tokens, binding, resume)
	query.Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	if err := p.Err(); err != nil {
		return wire.Response{}, err
	}
	var userRows []userRow
	var next []byte
	out := userList{Message: "The users of the account."}
	state := s.membershipOf(ctx, account)
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		if state.revision, err = tx.Revision(ctx, account); err != nil {
			return err
		}
		if out.Total, err = s.total(ctx, tx, state, members); err != nil {
			return err
		}
		userRows, next, err = s.membersPage(ctx, tx, members, wanted)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	s.keepTotal(state, out.Total)
	if next != nil {
		out.NextPageToken = s.Tokens.Seal(next, binding)
	}
	out.Users = make([]listedUser, len(userRows))
	for i, rec := range userRows {
		out.Users[i] = listedOf(rec.Value)
	}
	return wire.OK(out)
}

// membersPage returns a page of the members, or of those that the search finds, and the place of the next one, nil for
// the last one.
func (s *Service) membersPage(ctx context.Context, tx store.Tx, members store.Query, wanted search) ([]userRow, []byte, error) {
	if wanted.prefix == "" {
		rows, next, err := s.c.Users.Page(ctx, tx, members)
		if err != nil || next == nil {
			return rows, nil, err
		}
		return rows, next.Marshal(), nil
	}
	rows, more, err := wanted.run(ctx, tx, s.c.Users)
	if err != nil || !more {
		return rows, nil, err
	}
	place, err := wanted.place()
	return rows, place, err
}
