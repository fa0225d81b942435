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
	// maxPageBytes bounds a page of more than one group. Without it, a page of 100 groups would
	// be a response of 25 MB.
	maxPageBytes = 4 << 20
	// readSize is how many groups of a page one query reads.
	readSize = 10
)

// groupList is the response of security_group.list.
type groupList struct {
	Groups        []resources.SecurityGroup `json:"security_groups"`
	NextPageToken string                    `json:"next_page_token"`
	TotalCount    int                       `json:"total_count"`
	Message       string                    `json:"message"`
}

// groupPage is the page that a request asks for.
type groupPage struct {
	collection store.Collection[resources.SecurityGroup]
	query      store.Query
	size       int
	// binding names the list. A page token opens for the list with the same binding.
	binding string
}

// listGroups answers security_group.list (E2), newest first. It lists deleted groups only where the
// filter is their status.
func (s *Service) listGroups(ctx context.Context, r *wire.Request) (wire.Response, error) {
	page, err := s.readPage(r)
	if err != nil {
		return wire.Response{}, err
	}
	out := groupList{Message: "These are the project's security groups."}
	var more bool
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.TotalCount, err = page.collection.Count(ctx, tx, page.query); err != nil {
			return err
		}
		out.Groups, more, err = page.read(ctx, tx)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if more {
		last := page.collection.CursorAt(page.query, out.Groups[len(out.Groups)-1])
		out.NextPageToken = s.Tokens.Seal(last.Marshal(), page.binding)
	}
	return wire.OK(out)
}

// read returns the groups of the page, never nil, and whether others follow. It reads readSize groups
// at a time, so it never has more than that beyond maxPageBytes in memory.
func (p groupPage) read(ctx context.Context, tx store.Tx) (groups []resources.SecurityGroup, more bool, err error) {
	groups, query, bytes := []resources.SecurityGroup{}, p.query, 0
	for {
		query.Limit = min(readSize, p.size+1-len(groups)) // one more group: there is a next page
		recs, err := p.collection.Find(ctx, tx, query)
		if err != nil {
			return nil, false, err
		}
		for _, rec := range recs {
			bytes += sizeOf(rec.Value)
			if len(groups) == p.size || len(groups) > 0 && bytes > maxPageBytes {
				return groups, true, nil
			}
			groups = append(groups, rec.Value)
		}
		if len(recs) < query.Limit {
			return groups, false, nil
		}
		query.After = p.collection.CursorAt(query, groups[len(groups)-1])
	}
}

// readPage reads the query of security_group.list; 400 with all problems.
func (s *Service) readPage(r *wire.Request) (groupPage, error) {
	var p wire.Problems
	query, place := r.ParseQuery(&p), placeOf(r)
	status := query.OneOf("status", "", resources.SecurityGroupActive, resources.SecurityGroupPending,
		resources.SecurityGroupError, resources.SecurityGroupDeleting, resources.SecurityGroupDeleted)
	page := groupPage{
		collection: s.c.SecurityGroups, query: store.Query{Index: records.ByCreated, Equal: place.values()},
		size:    query.PageSize(),
		binding: strings.Join([]string{"security_group.list", place.account, place.project, status}, "|"), // none of the parts holds the separator
	}
	switch status {
	case "":
	case resources.SecurityGroupDeleted:
		page.collection = s.c.DeletedSecurityGroups
	default:
		page.query.Index, page.query.Equal = records.ByStatus, place.values(status)
	}
	query.PageToken(s.Tokens, page.binding, page.query.From)
	query.Done()
	return page, p.Err()
}
