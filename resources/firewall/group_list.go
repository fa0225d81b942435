package firewall

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// groupList is E2's answer.
type groupList struct {
	Groups        []resources.SecurityGroup `json:"security_groups"`
	NextPageToken string                    `json:"next_page_token"`
	TotalCount    int                       `json:"total_count"`
	Message       string                    `json:"message"`
}

// groupPage is which groups were asked for.
type groupPage struct {
	from  store.Collection[resources.SecurityGroup]
	query store.Query
	size  int
	// binding names the list, so that no other list takes its tokens.
	binding string
}

// listGroups answers E2: newest first, the deleted ones only where they are asked for.
func (s *Service) listGroups(ctx context.Context, r *wire.Request) (wire.Response, error) {
	page, err := s.readPage(r)
	if err != nil {
		return wire.Response{}, err
	}
	out := groupList{Message: "These are the project's security groups."}
	var found []store.Record[resources.SecurityGroup]
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.TotalCount, err = page.from.Count(ctx, tx, page.query); err != nil {
			return err
		}
		found, err = page.from.Find(ctx, tx, page.query)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if len(found) > page.size {
		found = found[:page.size]
		last := page.from.CursorAt(page.query, found[page.size-1].Value)
		out.NextPageToken = s.Tokens.Seal(last.Marshal(), page.binding)
	}
	out.Groups = make([]resources.SecurityGroup, len(found))
	for i, rec := range found {
		out.Groups[i] = rec.Value
	}
	return wire.OK(out)
}

// readPage reads E2's query: 400 with all problems.
func (s *Service) readPage(r *wire.Request) (groupPage, error) {
	var p wire.Problems
	query, at := r.ParseQuery(&p), placeOf(r)
	status := query.OneOf("status", "", resources.SecurityGroupActive, resources.SecurityGroupPending,
		resources.SecurityGroupError, resources.SecurityGroupDeleting, resources.SecurityGroupDeleted)
	page := groupPage{
		from: s.c.SecurityGroups, query: store.Query{Index: store.ByCreated, Equal: at.values()},
		size:    query.PageSize(),
		binding: strings.Join([]string{"E2", at.account, at.project, status}, "|"), // none of them can hold the separator
	}
	switch status {
	case "":
	case resources.SecurityGroupDeleted:
		page.from = s.c.DeletedSecurityGroups
	default:
		page.query.Index, page.query.Equal = store.ByStatus, at.values(status)
	}
	page.query.Limit = page.size + 1 // one more tells whether there is a next page
	if raw := query.PageToken(s.Tokens, page.binding); raw != nil {
		after, err := store.ParseCursor(raw)
		if err != nil {
			p.Add("page_token", "is not a token of this list; begin again without it")
		}
		page.query.After = after
	}
	query.Done()
	return page, p.Err()
}
