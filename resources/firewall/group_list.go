package firewall

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const (
	// maxPageBytes ends a page early: a hundred groups of the greatest size would be an
	// answer of 25 MB, and several times that in memory. One group is always given.
	maxPageBytes = 4 << 20
	// atOnce is how many groups of a page are read at a time.
	atOnce = 10
)

// groupList is security_group.list's answer.
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

// listGroups answers security_group.list (E2): newest first, the deleted ones only where they are asked for.
func (s *Service) listGroups(ctx context.Context, r *wire.Request) (wire.Response, error) {
	page, err := s.readPage(r)
	if err != nil {
		return wire.Response{}, err
	}
	out := groupList{Message: "These are the project's security groups."}
	var more bool
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.TotalCount, err = page.from.Count(ctx, tx, page.query); err != nil {
			return err
		}
		out.Groups, more, err = page.read(ctx, tx)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if more {
		last := page.from.CursorAt(page.query, out.Groups[len(out.Groups)-1])
		out.NextPageToken = s.Tokens.Seal(last.Marshal(), page.binding)
	}
	return wire.OK(out)
}

// read gives the page's groups, never nil, and whether others follow. It reads a few at a
// time, since how much the asked-for number of them takes is not known before.
func (p groupPage) read(ctx context.Context, tx store.Tx) (groups []resources.SecurityGroup, more bool, err error) {
	groups, query, bytes := []resources.SecurityGroup{}, p.query, 0
	for {
		query.Limit = min(atOnce, p.size+1-len(groups)) // one more than the page tells whether there is a next one
		found, err := p.from.Find(ctx, tx, query)
		if err != nil {
			return nil, false, err
		}
		for _, rec := range found {
			bytes += sizeOf(rec.Value)
			if len(groups) == p.size || len(groups) > 0 && bytes > maxPageBytes {
				return groups, true, nil
			}
			groups = append(groups, rec.Value)
		}
		if len(found) < query.Limit {
			return groups, false, nil
		}
		query.After = p.from.CursorAt(query, groups[len(groups)-1])
	}
}

// readPage reads security_group.list's query: 400 with all problems.
func (s *Service) readPage(r *wire.Request) (groupPage, error) {
	var p wire.Problems
	query, at := r.ParseQuery(&p), placeOf(r)
	status := query.OneOf("status", "", resources.SecurityGroupActive, resources.SecurityGroupPending,
		resources.SecurityGroupError, resources.SecurityGroupDeleting, resources.SecurityGroupDeleted)
	page := groupPage{
		from: s.c.SecurityGroups, query: store.Query{Index: records.ByCreated, Equal: at.values()},
		size:    query.PageSize(),
		binding: strings.Join([]string{"security_group.list", at.account, at.project, status}, "|"), // none of them can hold the separator
	}
	switch status {
	case "":
	case resources.SecurityGroupDeleted:
		page.from = s.c.DeletedSecurityGroups
	default:
		page.query.Index, page.query.Equal = records.ByStatus, at.values(status)
	}
	if raw := query.PageToken(s.Tokens, page.binding); raw != nil {
		after, err := store.ParseCursor(raw)
		if err != nil {
			p.Add("page_token", wire.PageTokenRule)
		}
		page.query.After = after
	}
	query.Done()
	return page, p.Err()
}
